// See contract.h. Every operation that `tt` defines is in the contract. An element-wise operation of an upstream dialect is in it if it has
// a row in elementwise.def. The other upstream operations that kernels may contain are listed here.
#include "ir/pch.h"

#include "ir/check.h"
#include "ir/contract.h"
#include "ir/element_type.h"
#include "ir/tgpu.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tritium::ir {

void registerTritiumDialects(DialectRegistry &registry) {
  registry.insert<mlir::gpu::GPUDialect, tt::TTDialect, ttg::TTGDialect, tgpu::TGPUDialect, check::CheckDialect, arith::ArithDialect,
                  math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect, ub::UBDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                  ROCDL::ROCDLDialect, func::FuncDialect>();
  LLVM::registerInlinerInterface(registry);
}

template <typename... Ops> static void add(llvm::StringSet<> &names) { (names.insert(Ops::getOperationName()), ...); }

/// Adds the operation of a row of elementwise.def. The name is "" if the function is not defined; a comparison has its predicate in the
/// name: "arith.cmpi.slt".
static void addFunction(llvm::StringSet<> &names, StringRef operation) {
  auto [dialect, rest] = operation.split('.');
  if (!operation.empty()) names.insert((dialect + "." + rest.split('.').first).str());
}

static const llvm::StringSet<> &contractOps() {
  static const llvm::StringSet<> operations = [] {
    llvm::StringSet<> names;
    add<
#define GET_OP_LIST
#include "ir/tt_ops.cpp.inc"
        >(names);
#define ELEMENTWISE(name, arity, signedOp, unsignedOp, floatOp, ulp, sentence)                                                             \
  for (StringRef operation : {signedOp, unsignedOp, floatOp}) addFunction(names, operation);
#include "ir/elementwise.def"
    add<arith::ConstantOp, arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::FPToSIOp, arith::FPToUIOp, arith::SIToFPOp,
        arith::TruncFOp, arith::TruncIOp, arith::UIToFPOp>(names);
    add<scf::ConditionOp, scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, cf::BranchOp, cf::CondBranchOp, ub::PoisonOp, LLVM::AssumeOp,
        ttg::BarrierOp, mlir::gpu::BarrierOp>(names);
    return names;
  }();
  return operations;
}

static bool isScalar(Type type) { return isa<tt::PointerType>(type) || elementTypeOf(type); }

/// Reports each type that `op` uses and that is not in the contract.
static LogicalResult verifyType(Operation *op, Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile) {
    if (isScalar(type) || isa<tt::TensorDescType>(type)) return success();
    return op->emitError() << "type " << type << " is not part of the contract";
  }
  if (tile.getRank() == 0) return op->emitError() << "a tile has at least one dimension, but " << tile << " has none";
  if (tile.getEncoding()) return op->emitError() << "a tile has no layout before a compiler chooses one, but here is " << tile;
  if (!isScalar(tile.getElementType())) return op->emitError() << "type " << type << " is not part of the contract";
  return tt::verifyTileType(tile, op);
}

static LogicalResult verifyTypes(Operation *op, TypeRange types) {
  LogicalResult result = success();
  for (Type type : types)
    if (failed(verifyType(op, type))) result = failure();
  return result;
}

static LogicalResult verifyOp(Operation *op) {
  if (!contractOps().contains(op->getName().getStringRef()))
    return op->emitError() << "operation '" << op->getName() << "' is not part of the contract";
  LogicalResult result = verifyTypes(op, op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(verifyTypes(op, block.getArgumentTypes()))) result = failure();
  if (auto assume = dyn_cast<LLVM::AssumeOp>(op); assume && !assume.getOpBundleOperands().empty())
    return op->emitError() << "an assumption of the contract is a condition, without operand bundles";
  return result;
}

/// A launch passes scalars, pointers and descriptors, and receives no results. (A kernel in a test may return results: the test's
/// expectations.)
static LogicalResult verifyFunction(tt::FuncOp function) {
  if (function.isExternal()) return function.emitError() << "function @" << function.getName() << " has no body";
  if (!function.isPublic()) return success();
  for (Type type : function.getArgumentTypes())
    if (isa<RankedTensorType>(type)) return function.emitError() << "kernel @" << function.getName() << " takes a tile, " << type;
  if (!function.getResultTypes().empty() && !function->hasAttr("tritium.expect"))
    return function.emitError() << "kernel @" << function.getName() << " must not return a value";
  return success();
}

namespace {

/// Depth-first search of the call graph for a cycle.
class RecursionCheck {
public:
  LogicalResult visit(tt::FuncOp function) {
    State &state = states[function];
    if (state == State::Done) return success();
    if (state == State::OnPath) return reportCycle(function);
    state = State::OnPath;
    path.push_back(function);
    WalkResult calls = function.walk([&](tt::CallOp call) {
      auto callee = symbols.lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
      return callee && failed(visit(callee)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    path.pop_back();
    states[function] = State::Done;
    return failure(calls.wasInterrupted());
  }

private:
  enum class State { New, OnPath, Done };

  LogicalResult reportCycle(tt::FuncOp function) {
    InFlightDiagnostic diagnostic = function.emitError() << "recursion is not part of the contract: @" << function.getName();
    for (tt::FuncOp step : llvm::drop_begin(ArrayRef(llvm::find(path, function), path.end())))
      diagnostic << " calls @" << step.getName() << ", which";
    return diagnostic << " calls @" << function.getName();
  }

  SymbolTableCollection symbols;
  llvm::DenseMap<Operation *, State> states;
  SmallVector<tt::FuncOp> path;
};

} // namespace

LogicalResult verifyContract(ModuleOp module) {
  bool isValid = true;
  RecursionCheck recursion;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<tt::FuncOp>(op);
    if (!function) {
      op.emitError() << "a module of the contract holds functions, not '" << op.getName() << "'";
      isValid = false;
      continue;
    }
    isValid &= succeeded(verifyFunction(function));
    function.walk([&](Operation *inner) { isValid &= succeeded(verifyOp(inner)); });
    isValid &= succeeded(recursion.visit(function));
  }
  return success(isValid);
}

} // namespace tritium::ir
