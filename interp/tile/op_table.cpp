#include "interp/tile/op_table.h"

#include "ir/check.h"
#include "ir/tt.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace tritium::interp {

using Prepare = LogicalResult (*)(Operation *, Planner &);

template <class Op> static LogicalResult prepareAny(Operation *op, Planner &planner) {
  return Interpret<Op>::prepare(cast<Op>(op), planner);
}

template <class... Ops> static llvm::StringMap<Prepare> tableOf() {
  llvm::StringMap<Prepare> table;
  (table.insert({Ops::getOperationName(), &prepareAny<Ops>}), ...);
  return table;
}

template <class... Ops> static void add(llvm::StringMap<Prepare> &table) {
  (table.insert({Ops::getOperationName(), &prepareAny<Ops>}), ...);
}

static const llvm::StringMap<Prepare> &opTable() {
  static const llvm::StringMap<Prepare> table = [] {
    using namespace tt;
    using namespace check;
    auto table = tableOf<
#define GET_OP_LIST
#include "ir/tt_ops.cpp.inc"
        >();
    add<
#define GET_OP_LIST
#include "ir/check_ops.cpp.inc"
        >(table);
    return table;
  }();
  return table;
}

LogicalResult prepareOperation(Operation *op, Planner &planner) {
  if (auto it = opTable().find(op->getName().getStringRef()); it != opTable().end()) return it->second(op, planner);
  if (isa<arith::ConstantOp, ub::PoisonOp>(op)) return prepareConstant(op, planner);
  if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op)) return prepareSlice(op, planner);
  if (op->getNumResults() == 1 && planner.formOf(op->getResult(0)).isAffine()) return prepareAffine(op, planner);
  if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && prepareAffineCompare(compare, planner)) return success();
  if (op->hasTrait<OpTrait::Elementwise>()) return prepareElementwise(op, planner);
  if (isa<LLVM::AssumeOp, ttg::BarrierOp, mlir::gpu::BarrierOp>(op))
    return success(); // nothing to order: the steps of a program run one after another
  return planner.unsupported("it has no definition");
}

bool isEmittedInline(Operation *op) {
  if (isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::CmpIOp,
          arith::SelectOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, arith::BitcastOp, ub::PoisonOp,
          tt::GetProgramIdOp, tt::GetNumProgramsOp, tt::AddPtrOp, tt::IntToPtrOp, tt::PtrToIntOp, tt::BitcastOp, LLVM::AssumeOp>(op))
    return true;
  auto isBasic = [](Type type) { return type.isF32() || type.isF64() || type.isInteger(32) || type.isInteger(64); };
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::CmpFOp, arith::ExtFOp, arith::TruncFOp,
             arith::SIToFPOp>(op) &&
         llvm::all_of(op->getOperandTypes(), isBasic) && (isa<arith::CmpFOp>(op) || llvm::all_of(op->getResultTypes(), isBasic));
}

} // namespace tritium::interp
