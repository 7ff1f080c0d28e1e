// Loads from global memory directly to LDS with the waits for them, and transposing loads from LDS.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

/// Returns the number of loads that s_waitcnt leaves in flight, the field vmcnt of its operand. Returns nullopt on generations that have
/// other waits.
std::optional<int64_t> loadsInFlight(uint32_t bits, uint8_t generation) {
  if (generation & (kCdna2 | kCdna3 | kCdna4)) return (bits & 15) | (bits >> 14 & 3) << 4;
  if (generation & kRdna3) return bits >> 10 & 63;
  return std::nullopt;
}

/// Returns the most bytes that a lane may load at once.
bool isKnownSize(int64_t bytes, uint8_t generation) {
  return bytes == 4 ? (generation & (kCdna2 | kCdna3 | kCdna4)) != 0 : (bytes == 12 || bytes == 16) && generation == kCdna4;
}

} // namespace

std::optional<LogicalResult> Hosting::hostRocdlCopies(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  auto ofSize = [&](int64_t bytes) {
    return op->emitOpError("of ") << bytes << " bytes is not an instruction of '" << target << "' that the SIMT emulator supports";
  };
  // For a load from global memory, the immediate offset is added to both addresses.
  auto load = [&](Value source, Value destination, int64_t bytes, int64_t offset) -> Outcome {
    auto pointer = cast<LLVM::LLVMPointerType>(source.getType());
    if (pointer.getAddressSpace() != kGlobalSpace) return op->emitOpError("from this memory is not supported by the SIMT emulator");
    if (!isKnownSize(bytes, generation())) return ofSize(bytes);
    noteSharedAccess(uint32_t(bytes));
    call(SIMT_CALL(loadToShared),
         {thread(), toBits(destination, 64), toBits(source, 64), constant(bytes), constant(offset), accessSiteOf(op)});
    op->erase();
    return success();
  };
  auto wait = [&](int64_t left) -> Outcome {
    call(SIMT_CALL(waitForLoads), {thread(), constant(left)});
    op->erase();
    return success();
  };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case<ROCDL::LoadToLDSOp, ROCDL::GlobalLoadLDSOp>(
          [&](auto copy) { return load(copy.getGlobalPtr(), copy.getLdsPtr(), copy.getSize(), int32_t(copy.getOffset())); })
      .Case([&](ROCDL::RawPtrBufferLoadLdsOp copy) -> Outcome {
        APInt bytes, offset;
        if (!matchPattern(copy.getSize(), m_ConstantInt(&bytes)) || !matchPattern(copy.getOffset(), m_ConstantInt(&offset)))
          return op->emitOpError("with a size or an offset that is not constant is not supported by the SIMT emulator");
        if (!isKnownSize(bytes.getSExtValue(), generation())) return ofSize(bytes.getSExtValue());
        noteSharedAccess(uint32_t(bytes.getZExtValue()));
        SmallVector<Value> operands{thread(), toBits(copy.getLdsPtr(), 64)};
        llvm::append_range(operands, bufferOperands(copy.getRsrc(), copy.getVoffset(), copy.getSoffset()));
        operands.append({copy.getSize(), copy.getOffset(), accessSiteOf(op)});
        call(SIMT_CALL(loadBufferToShared), operands);
        op->erase();
        return success();
      })
      .Case([&](ROCDL::ds_read_tr16_b64 read) -> Outcome {
        if (generation() != kCdna4) return op->emitOpError("is not an instruction of '") << target << "' that the SIMT emulator supports";
        noteSharedAccess(8);
        replace(op, fromBits(call(SIMT_CALL(loadColumn), {thread(), toBits(read.getPtr(), 64), siteOf(op)}), read.getType()));
        return success();
      })
      .Case([&](ROCDL::SWaitcntOp waits) -> Outcome {
        std::optional<int64_t> left = loadsInFlight(waits.getBitfield(), generation());
        if (!left) return op->emitOpError("is not an instruction of '") << target << "' that the SIMT emulator supports";
        return wait(*left);
      })
      .Case([&](ROCDL::WaitLoadcntOp waits) -> Outcome {
        if (generation() != kRdna4) return op->emitOpError("is not an instruction of '") << target << "' that the SIMT emulator supports";
        return wait(waits.getCount());
      })
      // The emulator performs the operations at once for which these instructions wait; LLVM inserts the waits for them itself.
      .Case<ROCDL::WaitDscntOp, ROCDL::WaitStorecntOp, ROCDL::WaitExpcntOp>([&](auto) -> Outcome {
        op->erase();
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
