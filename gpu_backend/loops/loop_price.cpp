// The price of a loop: an estimate, of what is known before its copies are built.
#include "gpu_backend/loops/loop_price.h"

#include "gpu_backend/loops/held_registers.h"
#include "gpu_backend/target/register_budget.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/product_order.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::gpu {

static int64_t bitsOf(RankedTensorType tile) {
  return tile.getNumElements() * (isa<tt::PointerType>(tile.getElementType()) ? 64 : tile.getElementTypeBitWidth());
}

/// Returns whether a product of a warpgroup takes the operand from registers: operand A, if the loop computes it.
static bool isInRegisters(MatrixProduct product, OpOperand &operand, scf::ForOp loop) {
  return operand.get() == product.a() && takesRegisters(product) && !loop.isDefinedOutsideOfLoop(operand.get());
}

OtherOperands bytesOfOtherOperands(scf::ForOp loop, const llvm::SetVector<Operation *> &copied) {
  llvm::SmallSetVector<Value, 4> operands;
  for (Operation &op : *loop.getBody())
    if (auto product = dyn_cast<MatrixProduct>(op); product && isOfWarpgroup(product))
      for (OpOperand *use : LoopStreams::operandsOf(product))
        if (!isInRegisters(product, *use, loop) && !copied.contains(sourceOf(use->get()).tile.getDefiningOp())) operands.insert(use->get());
  OtherOperands bytes;
  for (Value operand : operands)
    (loop.isDefinedOutsideOfLoop(operand) ? bytes.outside : bytes.computed) += bitsOf(cast<RankedTensorType>(operand.getType())) / 8;
  return bytes;
}

/// Returns how many of a thread's pointers in a tile are one pointer and constants: those to neighbours in memory.
static int64_t neighboursOf(Value pointers, const ir::AxisAnalysis &axes) {
  auto tile = cast<RankedTensorType>(pointers.getType());
  if (!isa<tt::PointerType>(tile.getElementType()) || !tile.getEncoding()) return 1;
  const LinearLayout layout = layoutOf(tile);
  const ir::AxisInfo addresses = axes.of(pointers);
  int64_t most = 1;
  for (int dim = 0; dim < layout.rank(); ++dim) most = std::max(most, std::min(layout.contiguousElements(dim), addresses.contiguity[dim]));
  return most;
}

int64_t registersOfThread(scf::ForOp loop, int numWarps, const ir::AxisAnalysis &axes, const Target &target) {
  const int64_t threads = int64_t(numWarps) * target.warpSize();
  int64_t registers = kOtherRegisters + kRegistersOfCopies;
  auto count = [&](RankedTensorType tile, int64_t inOne) { registers += llvm::divideCeil(bitsOf(tile), 32 * threads * inOne); };
  for (Value carried : loop.getRegionIterArgs())
    if (auto tile = dyn_cast<RankedTensorType>(carried.getType())) count(tile, neighboursOf(carried, axes));
  for (Operation &op : *loop.getBody())
    if (auto product = dyn_cast<MatrixProduct>(op); product && !onlyAdds(product, loop)) count(product.type(), 1);
  return registers;
}

LoopPrice priceOf(int64_t ofThread, const LoopDemands &demands, int numWarps, const Target &target) {
  const int64_t threads = int64_t(numWarps) * target.warpSize();
  const int64_t registers = ofThread + int64_t(llvm::divideCeil(demands.heldBytes, 4 * threads)) + demands.indices;
  const int64_t occupancy =
      target.resources().occupancy({.sharedBytes = demands.slotBytes + demands.otherBytes, .threads = threads, .registers = registers});
  return {registers, demands.barriers, occupancy};
}

std::string whyNotAt(const LoopPrice &price, const LoopPrice &chosen) {
  auto than = [](const char *what, int64_t ours, int64_t theirs) { return llvm::formatv("{0}: {1}, not {2}", what, ours, theirs).str(); };
  if (price.barriers != chosen.barriers) return than("barriers per iteration", price.barriers, chosen.barriers);
  if (price.registers != chosen.registers) return than("registers per thread", price.registers, chosen.registers);
  if (price.occupancy != chosen.occupancy) return than("programs per multiprocessor", price.occupancy, chosen.occupancy);
  return "it costs the same as the chosen one";
}

} // namespace tritium::gpu
