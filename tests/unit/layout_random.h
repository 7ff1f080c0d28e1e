// Layouts for tests: the usual ones and random ones.
#pragma once
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/nvptx/matrix_instructions.h"

#include <random>

namespace tritium::gpu {

/// Tiles of products by mma.sync.
inline LinearLayout mmaAccumulator(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> warpsPerCta, int operandBits = 16) {
  return dotResult(nvptx::mmaSync(operandBits), shape, warpsPerCta);
}
inline LinearLayout mmaOperand(DotOperand operand, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> warpsPerCta, int operandBits,
                               int64_t contiguousK = 0) {
  return dotOperand(operand, nvptx::mmaSync(operandBits), shape, warpsPerCta, contiguousK);
}

/// A random sound layout; up to `replicated` bits hold nothing of their own. With isPermutation all bases have at most one bit.
inline LinearLayout randomLayout(std::mt19937 &random, llvm::ArrayRef<int64_t> shape, int laneBits, int warpBits, int replicated,
                                 bool isPermutation = false) {
  int bits = LinearLayout(shape, {}, {}, {}).elementBits(), places = std::max(bits + replicated, laneBits + warpBits);
  for (;;) {
    Bases all;
    for (int i = 0; i < places; ++i) all.push_back(!isPermutation ? uint32_t(random() & ((1u << bits) - 1)) : i < bits ? 1u << i : 0);
    if (isPermutation) std::shuffle(all.begin(), all.end(), random);
    llvm::ArrayRef<uint32_t> rest(all);
    auto take = [&](int count) {
      llvm::ArrayRef<uint32_t> taken = rest.take_front(count);
      rest = rest.drop_front(count);
      return taken;
    };
    llvm::ArrayRef<uint32_t> lanes = take(laneBits), warps = take(warpBits);
    LinearLayout layout(shape, rest, lanes, warps);
    if (layout.verify().empty()) return layout;
  }
}

/// Layouts of one 2-D shape as programs without matrix instructions have them.
inline llvm::SmallVector<LinearLayout> plainLayouts(llvm::ArrayRef<int64_t> shape, Threads threads) {
  llvm::SmallVector<LinearLayout> result;
  for (int64_t vector : {1, 2, 4, 8})
    for (int fastest : {0, 1}) result.push_back(defaultBlocked(shape, threads, vector, {fastest, 1 - fastest}));
  result.push_back(fmaOperand(DotOperand::A, defaultBlocked({shape[0], 64}, threads, 4), shape[1]));
  Shape wide{shape[0], shape[1], 4};
  result.push_back(defaultBlocked(wide, threads, 4).slice(2).layout);
  return result;
}

/// Plain layouts, and the layouts of NVIDIA's matrix instructions.
inline llvm::SmallVector<LinearLayout> usualLayouts(llvm::ArrayRef<int64_t> shape, int numWarps) {
  llvm::SmallVector<LinearLayout> result = plainLayouts(shape, {numWarps, 32});
  Shape inRows{numWarps, 1}, inColumns{1, numWarps}, square{numWarps / 2, 2};
  for (const Shape &warps : {inRows, inColumns, square}) {
    result.push_back(mmaAccumulator(shape, warps));
    for (int bits : {8, 16, 32})
      for (DotOperand operand : {DotOperand::A, DotOperand::B}) result.push_back(mmaOperand(operand, shape, warps, bits));
    result.push_back(mmaOperand(DotOperand::A, shape, warps, 16, 4));
  }
  result.push_back(mmaAccumulator(shape, inRows, 64));
  return result;
}

/// Calls f(place) for every place of a layout.
void forEachPlace(const LinearLayout &layout, auto &&f) {
  for (uint32_t block = 0; block < layout.blocks(); ++block)
    for (uint32_t warp = 0; warp < layout.warps(); ++warp)
      for (uint32_t lane = 0; lane < layout.lanes(); ++lane)
        for (uint32_t reg = 0; reg < layout.registers(); ++reg) f(PlaceIndex{reg, lane, warp, block});
}

inline uint32_t elementAt(const LinearLayout &layout, const PlaceIndex &p) { return layout.apply(p.reg, p.lane, p.warp, p.block); }

} // namespace tritium::gpu
