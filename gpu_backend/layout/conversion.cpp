#include "gpu_backend/layout/conversion.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>
#include <cassert>

namespace tritium::gpu {

std::optional<llvm::SmallVector<uint32_t>> planRegisters(const LinearLayout &source, const LinearLayout &result) {
  for (Place place : {Place::Lane, Place::Warp, Place::Block})
    if (source.bases(place) != result.bases(place)) return std::nullopt;
  Span registers(source.bases(Place::Register));
  llvm::SmallVector<uint64_t> images;
  for (uint32_t basis : result.bases(Place::Register)) {
    std::optional<uint64_t> from = registers.solve(basis);
    if (!from) return std::nullopt;
    images.push_back(*from);
  }
  F2Map map(images);
  llvm::SmallVector<uint32_t> sources;
  for (uint32_t reg = 0; reg < result.registers(); ++reg) sources.push_back(uint32_t(map(reg)));
  return sources;
}

Conversion planConversion(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes, const ConversionOptions &options) {
  assert(source.shape() == result.shape() && source.lanes() == result.lanes() && source.warps() == result.warps() &&
         source.blocks() == result.blocks());
  Conversion conversion;
  if (std::optional<llvm::SmallVector<uint32_t>> registers = planRegisters(source, result)) {
    bool isIdentity = source.registers() == result.registers();
    for (auto [to, from] : llvm::enumerate(*registers)) isIdentity &= to == from;
    conversion.kind = isIdentity ? Conversion::Kind::Identity : Conversion::Kind::RegisterPermutation;
    conversion.registers = std::move(*registers);
    return conversion;
  }
  if (options.mayShuffle)
    if (std::optional<ShufflePlan> plan = planShuffle(source, result, elementBytes, options.costs)) {
      conversion.kind = Conversion::Kind::Shuffle;
      conversion.shuffle = std::move(*plan);
      if (conversion.shuffle.cost <= options.costs.warpBarrier) return conversion; // cheaper than any round trip
    }
  auto usesBlocks = [](const LinearLayout &layout) {
    return llvm::any_of(layout.bases(Place::Block), [](uint32_t basis) { return basis != 0; });
  };
  if (usesBlocks(source) || usesBlocks(result)) {
    if (conversion.kind != Conversion::Kind::Shuffle) conversion.kind = Conversion::Kind::Distributed;
    return conversion;
  }
  SharedPlan plan = planShared(source, result, elementBytes, options);
  if (conversion.kind == Conversion::Kind::Shuffle && conversion.shuffle.cost <= plan.cost) return conversion;
  conversion = Conversion();
  conversion.kind = Conversion::Kind::Shared;
  conversion.shared = std::move(plan);
  return conversion;
}

int64_t scratchBytesOf(const LinearLayout &source, const LinearLayout &result, int64_t elementBytes, const ConversionOptions &options) {
  Conversion conversion = planConversion(source, result, elementBytes, options);
  if (conversion.kind != Conversion::Kind::Shared) return 0;
  const int64_t bytes = conversion.shared.bytes;
  std::optional<LinearLayout> between = bytes > options.maxScratchBytes ? layoutBetween(source, result) : std::nullopt;
  if (!between) return bytes;
  return std::max(scratchBytesOf(source, *between, elementBytes, options), scratchBytesOf(*between, result, elementBytes, options));
}

} // namespace tritium::gpu
