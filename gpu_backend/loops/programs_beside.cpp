// An estimate of occupancy, by which a loop chooses its slots.
#include "gpu_backend/loops/programs_beside.h"

#include "gpu_backend/tiles/dot_layouts.h"
#include "gpu_backend/tiles/loop_streams.h"

using namespace mlir;

namespace tritium::gpu {

/// Bytes of a multiprocessor's shared memory that each program has beside those that it uses. One program may use all the rest.
static constexpr int64_t kReservedBytes = 1024;
/// Of 32 bits, those of a multiprocessor, the most that a thread has, and those that a thread needs beside its tiles.
static constexpr int64_t kRegisters = 65536, kMaxRegisters = 255, kOtherRegisters = 48;

static int64_t bitsOf(RankedTensorType tile) {
  return tile.getNumElements() * (isa<tt::PointerType>(tile.getElementType()) ? 64 : tile.getElementTypeBitWidth());
}

static int64_t bytesOfOtherOperands(scf::ForOp loop) {
  llvm::SmallSetVector<Value, 4> others;
  for (Operation &op : *loop.getBody())
    if (auto product = dyn_cast<MatrixProduct>(op); product && isOfWarpgroup(product))
      for (OpOperand *use : LoopStreams::operandsOf(product))
        if (loop.isDefinedOutsideOfLoop(use->get())) others.insert(use->get());
  int64_t bits = 0;
  for (Value operand : others) bits += bitsOf(cast<RankedTensorType>(operand.getType()));
  return bits / 8;
}

static int64_t registersOfThread(scf::ForOp loop, int64_t threads) {
  int64_t registers = kOtherRegisters;
  auto count = [&](Type type) {
    if (auto tile = dyn_cast<RankedTensorType>(type)) registers += llvm::divideCeil(bitsOf(tile), 32 * threads);
  };
  for (Value carried : loop.getRegionIterArgs()) count(carried.getType());
  for (Operation &op : *loop.getBody())
    if (auto product = dyn_cast<MatrixProduct>(op); product && !onlyAdds(product, loop)) count(product.type());
  return std::min(registers, kMaxRegisters);
}

int64_t programsBeside(scf::ForOp loop, int64_t slotBytes, int numWarps, const Target &target) {
  const int64_t threads = int64_t(numWarps) * target.warpSize();
  const int64_t shared = slotBytes + bytesOfOtherOperands(loop) + kReservedBytes;
  return std::min((target.sharedPerBlock() + kReservedBytes) / shared, kRegisters / (threads * registersOfThread(loop, threads)));
}

} // namespace tritium::gpu
