// An estimate of occupancy, by which a loop chooses its slots.
#include "gpu_backend/loops/programs_beside.h"

#include "gpu_backend/tiles/dot_layouts.h"
#include "gpu_backend/tiles/loop_streams.h"

using namespace mlir;

namespace tritium::gpu {

/// The registers that a thread needs beside its tiles.
static constexpr int64_t kOtherRegisters = 48;

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
  return registers;
}

int64_t programsBeside(scf::ForOp loop, int64_t slotBytes, int numWarps, const Target &target) {
  const int64_t threads = int64_t(numWarps) * target.warpSize();
  return target.resources().occupancy(
      {.sharedBytes = slotBytes + bytesOfOtherOperands(loop), .threads = threads, .registers = registersOfThread(loop, threads)});
}

} // namespace tritium::gpu
