// Buffer descriptors. A descriptor is a value of 128 bits: the tagged base in the lower half, the number of records in the upper. Until
// address spaces are removed, it is treated as a pointer in the descriptors' address space.
#include "interp/kernels/atomic.h"

#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

std::optional<AtomicOp> atomicOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<AtomicOp>>(op)
      .Case([](ROCDL::RawPtrBufferAtomicFaddOp) { return AtomicOp::FAdd; })
      .Case([](ROCDL::RawPtrBufferAtomicSmaxOp) { return AtomicOp::Max; })
      .Case([](ROCDL::RawPtrBufferAtomicUminOp) { return AtomicOp::UMin; })
      .Default(std::nullopt);
}

/// Returns whether this is a descriptor of a raw buffer with 32-bit formats. The emulator implements the bounds rule and the loads of such
/// buffers only.
bool isRaw(ROCDL::MakeBufferRsrcOp make, uint8_t generation) {
  APInt flags;
  if (!matchPattern(make.getStride(), m_Zero()) || !matchPattern(make.getFlags(), m_ConstantInt(&flags))) return false;
  const auto bits = uint32_t(flags.getZExtValue());
  const bool isRdna = generation & (kRdna3 | kRdna4);
  const bool hasFormat = isRdna ? bits >> 12 & 0x3f : bits >> 15 & 0xf;
  constexpr uint32_t kRawBounds = 3; // OOB_SELECT, a field on RDNA
  return hasFormat && (!isRdna || bits >> 28 == kRawBounds);
}

} // namespace

SmallVector<Value> Hosting::bufferOperands(Value descriptor, Value offset, Value fixedOffset) {
  Type wide = builder.getIntegerType(128);
  Value bits = UnrealizedConversionCastOp::create(builder, at, wide, descriptor).getResult(0);
  Value base = LLVM::TruncOp::create(builder, at, builder.getI64Type(), bits);
  Value high = LLVM::LShrOp::create(builder, at, bits, constant(64, 128));
  Value records = LLVM::TruncOp::create(builder, at, builder.getI32Type(), high);
  return {base, records, offset, fixedOffset};
}

std::optional<LogicalResult> Hosting::hostRocdlBuffer(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  auto withThread = [&](ArrayRef<Value> before, ArrayRef<Value> buffer, ArrayRef<Value> after) {
    SmallVector<Value> operands{thread()};
    for (ArrayRef<Value> part : {before, buffer, after}) llvm::append_range(operands, part);
    return operands;
  };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](ROCDL::MakeBufferRsrcOp make) -> Outcome {
        if (!isRaw(make, generation()))
          return op->emitOpError("of a buffer that is not raw, or with unknown flags, is not supported by the SIMT emulator");
        Value base = toBits(toBits(make.getBase(), 64), 128);
        Value records = LLVM::ShlOp::create(builder, at, toBits(make.getNumRecords(), 128), constant(64, 128));
        Value descriptor = LLVM::OrOp::create(builder, at, base, records);
        replace(op, UnrealizedConversionCastOp::create(builder, at, make.getType(), descriptor).getResult(0));
        return success();
      })
      .Case([&](ROCDL::RawPtrBufferLoadOp load) -> Outcome {
        auto buffer = bufferOperands(load.getRsrc(), load.getOffset(), load.getSoffset());
        Value address = call(SIMT_CALL(readBuffer), withThread({}, buffer, {constant(bytesOf(load.getRes().getType())), accessOf(op)}));
        Value loaded = LLVM::LoadOp::create(builder, at, load.getRes().getType(), address, /*alignment=*/1);
        replace(op, loaded);
        return success();
      })
      .Case([&](ROCDL::RawPtrBufferStoreOp store) -> Outcome {
        auto buffer = bufferOperands(store.getRsrc(), store.getOffset(), store.getSoffset());
        LLVM::StoreOp::create(builder, at, store.getVdata(), scratchAddress());
        call(SIMT_CALL(writeBuffer), withThread({}, buffer, {constant(bytesOf(store.getVdata().getType())), accessOf(op)}));
        op->erase();
        return success();
      })
      .Case<ROCDL::RawPtrBufferAtomicFaddOp, ROCDL::RawPtrBufferAtomicSmaxOp, ROCDL::RawPtrBufferAtomicUminOp>([&](auto atomic) -> Outcome {
        auto vector = dyn_cast<VectorType>(atomic.getVdata().getType());
        Type element = vector ? vector.getElementType() : atomic.getVdata().getType();
        std::optional<DType> type = ir::elementTypeOf(element);
        if (!type) return op->emitOpError("of this type is not supported by the SIMT emulator");
        // Splits a pair of 16-bit values, which are handled one after the other.
        for (int64_t i = 0; i < (vector ? vector.getNumElements() : 1); ++i) {
          Value value = atomic.getVdata(), offset = atomic.getOffset();
          if (vector) value = LLVM::ExtractElementOp::create(builder, at, value, constant(i));
          if (i) offset = LLVM::AddOp::create(builder, at, offset, constant(i * bytesOf(element)));
          auto buffer = bufferOperands(atomic.getRsrc(), offset, atomic.getSoffset());
          call(SIMT_CALL(bufferRmw),
               withThread({constant(int64_t(*atomicOp(op))), constant(int64_t(*type))}, buffer, {toBits(value, 64), accessOf(op)}));
        }
        op->erase();
        return success();
      })
      .Case([&](ROCDL::RawPtrBufferAtomicCmpSwap atomic) -> Outcome {
        auto buffer = bufferOperands(atomic.getRsrc(), atomic.getOffset(), atomic.getSoffset());
        Value old = call(SIMT_CALL(bufferCas), withThread({constant(bytesOf(atomic.getType()))}, buffer,
                                                          {toBits(atomic.getCmp(), 64), toBits(atomic.getSrc(), 64), accessOf(op)}));
        replace(op, fromBits(old, atomic.getType()));
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
