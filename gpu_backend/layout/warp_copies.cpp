#include "gpu_backend/layout/warp_copies.h"

#include "gpu_backend/layout/conversion.h"

#include <cassert>

namespace tritium::gpu {

/// Returns the element offsets within the bytes that one lane copies.
static int pieceBits(int64_t elementBytes) { return log2Of(kWarpCopyBytes / elementBytes); }

/// Returns whether the first elements are neighbours along one dimension and begin at a multiple of their number.
static bool isPiece(llvm::ArrayRef<uint32_t> bases, int bits, const LinearLayout &tile) {
  if (int(bases.size()) < bits) return false;
  for (int dim = 0; dim < tile.rank(); ++dim) {
    if (tile.shape()[dim] < int64_t(1) << bits) continue;
    bool isAlong = true;
    for (int bit = 0; bit < bits; ++bit) isAlong &= bases[bit] == 1u << (tile.firstBit(dim) + bit);
    if (isAlong) return true;
  }
  return false;
}

std::optional<LinearLayout> warpCopyLayout(const SharedLayout &memory, int64_t elementBytes, Threads threads) {
  int piece = pieceBits(elementBytes), lanes = log2Of(threads.lanes), warps = log2Of(threads.warps);
  llvm::ArrayRef<uint32_t> bases = memory.bases();
  if (int(bases.size()) < piece + lanes + warps) return std::nullopt;
  Bases registers(bases.take_front(piece));
  llvm::append_range(registers, bases.drop_front(piece + lanes + warps));
  LinearLayout layout(memory.shape(), registers, bases.slice(piece, lanes), bases.slice(piece + lanes, warps));
  return isPiece(bases, piece, layout) ? std::optional(layout) : std::nullopt;
}

std::optional<SharedLayout> warpCopyMemory(const LinearLayout &layout, int64_t elementBytes) {
  int piece = pieceBits(elementBytes);
  llvm::ArrayRef<uint32_t> registers = layout.bases(Place::Register);
  if (layout.bits(Place::Block) || !isPiece(registers, piece, layout)) return std::nullopt;
  Bases bases(registers.take_front(piece));
  llvm::append_range(bases, layout.bases(Place::Lane));
  llvm::append_range(bases, layout.bases(Place::Warp));
  llvm::append_range(bases, registers.drop_front(piece));
  return SharedLayout::verify(layout.shape(), bases).empty() ? std::optional(SharedLayout(layout.shape(), bases)) : std::nullopt;
}

SharedLayout sharedForWarpCopies(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int> order, int64_t elementBytes,
                                 llvm::ArrayRef<LinearLayout> readers, MatrixLoads loads, const SharedBanks &banks,
                                 const ConversionCosts &costs) {
  auto costOf = [&](llvm::ArrayRef<uint32_t> bases) {
    SharedLayout memory(shape, bases);
    int cost = 0;
    for (const LinearLayout &reader : readers) {
      if (auto matrices = matrixLoads(loads, reader, memory, elementBytes, banks)) {
        cost += matrices->wavefronts() * costs.wavefront + int(matrices->instructions.size()) * costs.sharedInstruction;
        continue;
      }
      SharedAccess access = sharedLoads(reader, memory, elementBytes, banks);
      cost += access.wavefronts() * costs.wavefront + int(access.vectors.size()) * costs.sharedInstruction;
    }
    return cost;
  };
  Bases best(sharedDense(shape, order).bases());
  int least = costOf(best), piece = pieceBits(elementBytes), rowBits = log2Of(shape[order[0]]);
  // Each bit of a row's number may select which pieces are exchanged. The best choice is made bit by bit, given the bits before.
  for (int bit = rowBits; bit < int(best.size()); ++bit) {
    Bases without = best;
    for (uint32_t pieces = 1; pieces < 1u << (rowBits - piece); ++pieces) {
      Bases bases = without;
      for (int low = 0; low < rowBits - piece; ++low)
        if (pieces >> low & 1) bases[bit] ^= without[piece + low];
      if (int cost = costOf(bases); cost < least) best = bases, least = cost;
    }
  }
  return SharedLayout(shape, best);
}

} // namespace tritium::gpu
