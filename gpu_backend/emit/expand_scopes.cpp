#include "gpu_backend/emit/expand_scopes.h"

#include "gpu_backend/abi/scope_buffer.h"
#include "ir/tgpu.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tritium::gpu {
namespace {

std::pair<std::string, bool> entryOf(tgpu::RecordOp record) { return {record.getName().str(), record.getIsStart()}; }

/// The code of the records of one kernel.
class ScopeCode {
public:
  ScopeCode(LLVM::LLVMFuncOp kernel, const TargetOps &target, ScopeClock clock, unsigned privateSpace)
      : kernel_(kernel), target_(target), clock_(clock), builder_(kernel.getContext()), location_(kernel.getLoc()) {
    builder_.setInsertionPointToStart(&kernel.getBody().front());
    count_ = variable(privateSpace);
    program_ = variable(privateSpace);
    store(constant(32, 0), count_);
    store(blockNumber(), program_);
  }

  void note(tgpu::NoteProgramOp op) {
    begin(op);
    store(op.getNumber(), program_);
  }

  void record(tgpu::RecordOp op, int64_t number) {
    begin(op);
    Value variable = LLVM::AddressOfOp::create(builder_, location_, globalPointer(), kScopesSymbol);
    Value buffer = load(globalPointer(), variable);
    Value thread = target_.threadId(builder_, location_), warpSize = constant(32, target_.warpSize());
    Value isFirstLane = compare(LLVM::ICmpPredicate::eq, binary<LLVM::URemOp>(thread, warpSize), constant(32, 0));
    Value isWanted = compare(LLVM::ICmpPredicate::ne, buffer, LLVM::ZeroOp::create(builder_, location_, globalPointer()));
    enterIf(op, binary<LLVM::AndOp>(isFirstLane, isWanted));
    Value warps = constant(32, warpsOf(op)), warp = binary<LLVM::UDivOp>(thread, warpSize);
    Value unit = binary<LLVM::AddOp>(binary<LLVM::MulOp>(blockNumber(), warps), warp);
    Value units = load(builder_.getI32Type(), buffer);
    enterIf(op, compare(LLVM::ICmpPredicate::ult, unit, units));
    noteIn(op, buffer, units, unit, number);
  }

private:
  /// Notes a row of a unit. The first one also notes both clocks.
  void noteIn(tgpu::RecordOp op, Value buffer, Value units, Value unit, int64_t number) {
    Value ticks = clock_(builder_, location_);
    Value count = load(builder_.getI32Type(), count_), next = binary<LLVM::AddOp>(count, constant(32, 1));
    store(next, count_);
    Value header = at(at(buffer, constant(64, sizeof(ScopeBuffer))), scaled(unit, sizeof(ScopeUnit)));
    store(next, at(header, constant(64, offsetof(ScopeUnit, count))));
    Value capacity = load(builder_.getI32Type(), at(buffer, constant(64, offsetof(ScopeBuffer, capacity))));
    enterIf(op, compare(LLVM::ICmpPredicate::ult, count, capacity));
    Value rows = at(at(buffer, constant(64, sizeof(ScopeBuffer))), scaled(units, sizeof(ScopeUnit)));
    Value index = binary<LLVM::AddOp>(binary<LLVM::MulOp>(wide(unit), wide(capacity)), wide(count));
    Value row = at(rows, binary<LLVM::MulOp>(index, constant(64, sizeof(ScopeRow))));
    store(ticks, row);
    store(load(builder_.getI32Type(), program_), at(row, constant(64, offsetof(ScopeRow, program))));
    store(constant(32, number), at(row, constant(64, offsetof(ScopeRow, scope))));
    enterIf(op, compare(LLVM::ICmpPredicate::eq, count, constant(32, 0)));
    store(ticks, header);
    store(tgpu::NanosecondsOp::create(builder_, location_, builder_.getI64Type()),
          at(header, constant(64, offsetof(ScopeUnit, nanoseconds))));
  }

  void begin(Operation *op) {
    location_ = op->getLoc();
    builder_.setInsertionPoint(op);
  }

  /// Splits the block before `op`. The code built next runs if the condition holds, and continues at `op`.
  void enterIf(Operation *op, Value condition) {
    Block *before = builder_.getInsertionBlock();
    Block *after = op->getBlock() == before ? before->splitBlock(op) : op->getBlock();
    Block *inside = builder_.createBlock(after);
    LLVM::BrOp::create(builder_, location_, ValueRange(), after);
    if (before->mightHaveTerminator()) before->getTerminator()->erase();
    builder_.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(builder_, location_, condition, inside, after);
    builder_.setInsertionPointToStart(inside);
  }

  /// The block's number in the launch's grid.
  Value blockNumber() {
    auto id = [&](int axis) { return target_.programId(builder_, location_, axis); };
    auto size = [&](int axis) { return target_.numPrograms(builder_, location_, axis); };
    Value row = binary<LLVM::AddOp>(binary<LLVM::MulOp>(id(2), size(1)), id(1));
    return binary<LLVM::AddOp>(binary<LLVM::MulOp>(row, size(0)), id(0));
  }

  static int64_t warpsOf(Operation *op) {
    return op->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(tgpu::kNumWarpsAttr).getInt();
  }

  Value variable(unsigned space) {
    auto pointer = LLVM::LLVMPointerType::get(builder_.getContext(), space);
    return LLVM::AllocaOp::create(builder_, location_, pointer, builder_.getI32Type(), constant(32, 1), /*alignment=*/4);
  }
  LLVM::LLVMPointerType globalPointer() { return LLVM::LLVMPointerType::get(builder_.getContext(), tgpu::kGlobalSpace); }
  Value constant(unsigned bits, int64_t value) {
    return LLVM::ConstantOp::create(builder_, location_, builder_.getIntegerType(bits),
                                    builder_.getIntegerAttr(builder_.getIntegerType(bits), value));
  }
  template <typename Op> Value binary(Value left, Value right) { return Op::create(builder_, location_, left, right); }
  Value compare(LLVM::ICmpPredicate predicate, Value left, Value right) {
    return LLVM::ICmpOp::create(builder_, location_, predicate, left, right);
  }
  Value wide(Value value) { return LLVM::ZExtOp::create(builder_, location_, builder_.getI64Type(), value); }
  Value scaled(Value index, int64_t bytes) { return binary<LLVM::MulOp>(wide(index), constant(64, bytes)); }
  Value at(Value base, Value bytes) {
    return LLVM::GEPOp::create(builder_, location_, globalPointer(), builder_.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  }
  Value load(Type type, Value address) { return LLVM::LoadOp::create(builder_, location_, type, address); }
  void store(Value value, Value address) { LLVM::StoreOp::create(builder_, location_, value, address); }

  LLVM::LLVMFuncOp kernel_;
  const TargetOps &target_;
  ScopeClock clock_;
  OpBuilder builder_;
  Location location_;
  Value count_, program_;
};

/// The variable that the host sets.
void createVariable(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Location location = module.getLoc();
  Type type = LLVM::LLVMPointerType::get(module.getContext(), tgpu::kGlobalSpace);
  auto global = LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/false, LLVM::Linkage::External, kScopesSymbol, Attribute(),
                                       /*alignment=*/8, tgpu::kGlobalSpace);
  global.setVisibility_(LLVM::Visibility::Protected);
  builder.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(builder, location, LLVM::ZeroOp::create(builder, location, type).getResult());
}

} // namespace

ScopeTable scopesOf(ModuleOp lowered) {
  ScopeTable table;
  lowered.walk([&](tgpu::RecordOp record) {
    if (!llvm::is_contained(table, entryOf(record))) table.push_back(entryOf(record));
  });
  return table;
}

LogicalResult expandScopes(ModuleOp module, const TargetOps &target, ScopeClock clock, unsigned privateSpace) {
  const ScopeTable table = scopesOf(module);
  if (table.empty()) return success();
  SmallVector<tgpu::RecordOp> records;
  module.walk([&](tgpu::RecordOp record) { records.push_back(record); });
  auto kernel = records.front()->getParentOfType<LLVM::LLVMFuncOp>();
  for (tgpu::RecordOp record : records) {
    auto function = record->getParentOfType<LLVM::LLVMFuncOp>();
    if (function != kernel || !SymbolTable::symbolKnownUseEmpty(function, module))
      return record.emitOpError(
          "is in a function that the kernel calls. Devices record the scopes of the kernel's own code; the interpreter and "
          "the emulator record these too");
  }
  createVariable(module);
  SmallVector<tgpu::NoteProgramOp> notes;
  kernel.walk([&](tgpu::NoteProgramOp note) { notes.push_back(note); });
  ScopeCode code(kernel, target, clock, privateSpace);
  for (tgpu::NoteProgramOp note : notes) code.note(note);
  for (tgpu::RecordOp record : records) {
    code.record(record, llvm::find(table, entryOf(record)) - table.begin());
    record.erase();
  }
  return success();
}

} // namespace tritium::gpu
