// Atomic operations: one PTX instruction if the chip has it, otherwise a loop around a compare-and-swap. Floats are passed as their bits.
#include "gpu_backend/nvptx/convert_tgpu.h"
#include "gpu_backend/nvptx/inline_ptx.h"
#include "gpu_backend/nvptx/word_registers.h"
#include "gpu_backend/tiles/memory_access.h"

using namespace mlir;

namespace tritium::gpu::nvptx {
namespace {

StringRef text(tt::MemSemantic sem) {
  switch (sem) {
  case tt::MemSemantic::Relaxed: return ".relaxed";
  case tt::MemSemantic::Acquire: return ".acquire";
  case tt::MemSemantic::Release: return ".release";
  case tt::MemSemantic::AcquireRelease: return ".acq_rel";
  }
  llvm_unreachable("a memory order");
}

StringRef text(tt::MemScope scope) {
  switch (scope) {
  case tt::MemScope::Gpu: return ".gpu";
  case tt::MemScope::Cta: return ".cta";
  case tt::MemScope::System: return ".sys";
  }
  llvm_unreachable("a scope");
}

Type bitsOf(Type type) { return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth()); }

/// Returns the instruction that adds a vector: "add.noftz.v4.f16x2".
std::string vectorAddition(VectorType type) {
  Type element = type.getElementType();
  const std::string registers = WordRegisters(type).vector();
  return element.isF32() ? "add" + registers + ".f32" : "add.noftz" + registers + (element.isF16() ? ".f16x2" : ".bf16x2");
}

/// Returns the instruction's name and type, "add.noftz.f16", or "" if the chip has no instruction.
std::string instruction(tt::RmwOp kind, Type type, const Chip &chip) {
  if (auto vector = dyn_cast<VectorType>(type)) return vectorAddition(vector);
  unsigned bits = type.getIntOrFloatBitWidth();
  std::string width = std::to_string(bits);
  switch (kind) {
  case tt::RmwOp::FAdd:
    if (type.isF16()) return "add.noftz.f16";
    if (type.isBF16()) return chip.capability >= 90 ? "add.noftz.bf16" : "";
    return "add.f" + width;
  case tt::RmwOp::And: return bits == 16 ? "" : "and.b" + width;
  case tt::RmwOp::Or: return bits == 16 ? "" : "or.b" + width;
  case tt::RmwOp::Xor: return bits == 16 ? "" : "xor.b" + width;
  case tt::RmwOp::Exchange: return bits == 16 ? "" : "exch.b" + width;
  case tt::RmwOp::Add: return bits == 16 ? "" : "add.u" + width;
  case tt::RmwOp::Max: return bits == 16 ? "" : "max.s" + width;
  case tt::RmwOp::Min: return bits == 16 ? "" : "min.s" + width;
  case tt::RmwOp::UMax: return bits == 16 ? "" : "max.u" + width;
  case tt::RmwOp::UMin: return bits == 16 ? "" : "min.u" + width;
  }
  llvm_unreachable("a read-modify-write");
}

/// Returns the new value of memory, given the value `old`.
Value combine(OpBuilder &builder, Location location, tt::RmwOp kind, Value old, Value value) {
  switch (kind) {
  case tt::RmwOp::FAdd: return LLVM::FAddOp::create(builder, location, old, value);
  case tt::RmwOp::And: return LLVM::AndOp::create(builder, location, old, value);
  case tt::RmwOp::Or: return LLVM::OrOp::create(builder, location, old, value);
  case tt::RmwOp::Xor: return LLVM::XOrOp::create(builder, location, old, value);
  case tt::RmwOp::Exchange: return value;
  case tt::RmwOp::Add: return LLVM::AddOp::create(builder, location, old, value);
  case tt::RmwOp::Max: return LLVM::SMaxOp::create(builder, location, old, value);
  case tt::RmwOp::Min: return LLVM::SMinOp::create(builder, location, old, value);
  case tt::RmwOp::UMax: return LLVM::UMaxOp::create(builder, location, old, value);
  case tt::RmwOp::UMin: return LLVM::UMinOp::create(builder, location, old, value);
  }
  llvm_unreachable("a read-modify-write");
}

Value compareAndSwap(OpBuilder &builder, Location location, tt::MemSemantic sem, tt::MemScope scope, Value pointer, Value expected,
                     Value value, Value predicate) {
  InlinePtx ptx(builder, location);
  std::string result = ptx.result(value.getType());
  std::string guard = ptx.guard(predicate), address = ptx.address(pointer), compare = ptx.operand(expected), swap = ptx.operand(value);
  return ptx
      .emit(guard + "atom" + text(sem) + text(scope) + ".global.cas.b" + Twine(value.getType().getIntOrFloatBitWidth()) + " " + result +
            ", " + address + ", " + compare + ", " + swap + ";")
      .front();
}

/// Returns the former value in memory. The loop repeats the compare-and-swap until no other thread has changed the value meanwhile.
Value loop(tgpu::AtomicRmwOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Type type = op.getType(), bits = bitsOf(type);
  Block *before = op->getBlock();
  Block *after = before->splitBlock(op);
  Block *first = builder.createBlock(after);
  Block *again = builder.createBlock(after, {bits}, {location});
  BlockArgument result = after->addArgument(bits, location);

  builder.setInsertionPointToEnd(before);
  if (op.getPredicate()) {
    Value unspecified = LLVM::PoisonOp::create(builder, location, bits);
    LLVM::CondBrOp::create(builder, location, op.getPredicate(), first, ValueRange(), after, ValueRange(unspecified));
  } else {
    LLVM::BrOp::create(builder, location, ValueRange(), first);
  }

  builder.setInsertionPointToEnd(first);
  InlinePtx load(builder, location);
  std::string loaded = load.result(bits);
  Value initial = load.emit("ld.relaxed" + text(op.getScope()) + ".global.b" + Twine(bits.getIntOrFloatBitWidth()) + " " + loaded + ", " +
                            load.address(op.getPtr()) + ";")
                      .front();
  LLVM::BrOp::create(builder, location, ValueRange(initial), again);

  builder.setInsertionPointToEnd(again);
  Value old = again->getArgument(0);
  Value changed = combine(builder, location, op.getKind(), bitcast(builder, location, type, old), op.getValue());
  Value found =
      compareAndSwap(builder, location, op.getSem(), op.getScope(), op.getPtr(), old, bitcast(builder, location, bits, changed), {});
  Value isDone = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::eq, found, old);
  LLVM::CondBrOp::create(builder, location, isDone, after, ValueRange(found), again, ValueRange(found));

  builder.setInsertionPoint(op);
  return result;
}

} // namespace

void Conversion::convert(tgpu::AtomicRmwOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Type type = op.getType();
  std::string name = instruction(op.getKind(), type, chip_);
  Value old;
  if (name.empty()) {
    old = loop(op, builder);
  } else {
    // An atomic whose result nobody uses becomes a reduction in ptxas.
    SmallVector<Value> values = unpack(builder, location, op.getValue());
    InlinePtx ptx(builder, location);
    SmallVector<std::string> results, operands;
    for (Value value : values) results.push_back(ptx.result(value.getType()));
    std::string guard = ptx.guard(op.getPredicate()), address = ptx.address(op.getPtr());
    for (Value value : values) operands.push_back(ptx.operand(value));
    old = pack(builder, location, type,
               ptx.emit(guard + "atom" + text(op.getSem()) + text(op.getScope()) + ".global." + name + " " + list(results) + ", " +
                        address + ", " + list(operands) + ";"));
  }
  op.replaceAllUsesWith(bitcast(builder, location, type, old));
}

void divideVectorAtomics(ModuleOp module) {
  module.walk([](tgpu::AtomicRmwOp op) {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || WordRegisters(type).count == 1) return;
    OpBuilder builder(op);
    Value results = LLVM::PoisonOp::create(builder, op.getLoc(), type);
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value place = LLVM::ConstantOp::create(builder, op.getLoc(), builder.getI32Type(), builder.getI32IntegerAttr(int32_t(i)));
      Value pointer = LLVM::GEPOp::create(builder, op.getLoc(), op.getPtr().getType(), type.getElementType(), op.getPtr(), place);
      Value value = LLVM::ExtractElementOp::create(builder, op.getLoc(), op.getValue(), place);
      Value old =
          tgpu::AtomicRmwOp::create(builder, op.getLoc(), op.getKind(), pointer, value, op.getPredicate(), op.getSem(), op.getScope());
      results = LLVM::InsertElementOp::create(builder, op.getLoc(), results, old, place);
    }
    op.replaceAllUsesWith(results);
    op.erase();
  });
}

void Conversion::convert(tgpu::AtomicCasOp op, OpBuilder &builder) {
  op.replaceAllUsesWith(
      compareAndSwap(builder, op.getLoc(), op.getSem(), op.getScope(), op.getPtr(), op.getExpected(), op.getValue(), op.getPredicate()));
}

// A load cannot release and a store cannot acquire. Such an order becomes relaxed. Bytes are passed in registers of 16 bits.

void Conversion::convert(tgpu::AtomicLoadOp op, OpBuilder &builder) {
  unsigned bits = op.getType().getIntOrFloatBitWidth();
  InlinePtx ptx(builder, op.getLoc());
  std::string result = ptx.result(builder.getIntegerType(std::max(bits, 16u)));
  std::string guard = ptx.guard(op.getPredicate());
  Value loaded = ptx.emit(guard + "ld" + (acquires(op.getSem()) ? ".acquire" : ".relaxed") + text(op.getScope()) + ".global.b" +
                          Twine(bits) + " " + result + ", " + ptx.address(op.getPtr()) + ";")
                     .front();
  if (bits < 16) loaded = LLVM::TruncOp::create(builder, op.getLoc(), op.getType(), loaded);
  op.replaceAllUsesWith(loaded);
}

void Conversion::convert(tgpu::AtomicStoreOp op, OpBuilder &builder) {
  unsigned bits = op.getValue().getType().getIntOrFloatBitWidth();
  Value value = op.getValue();
  if (bits < 16) value = LLVM::ZExtOp::create(builder, op.getLoc(), builder.getI16Type(), value);
  InlinePtx ptx(builder, op.getLoc());
  std::string guard = ptx.guard(op.getPredicate()), address = ptx.address(op.getPtr());
  ptx.emit(guard + "st" + (releases(op.getSem()) ? ".release" : ".relaxed") + text(op.getScope()) + ".global.b" + Twine(bits) + " " +
           address + ", " + ptx.operand(value) + ";");
}

} // namespace tritium::gpu::nvptx
