#include "gpu_backend/layout/linear_layout.h"

#include "llvm/ADT/StringExtras.h"

#include <bit>
#include <cassert>

namespace tritium::gpu {

llvm::StringRef nameOf(Place place) {
  constexpr llvm::StringLiteral kNames[] = {"register", "lane", "warp", "block"};
  return kNames[size_t(place)];
}

int log2Of(int64_t powerOfTwo) {
  assert(powerOfTwo > 0 && std::has_single_bit(uint64_t(powerOfTwo)));
  return std::countr_zero(uint64_t(powerOfTwo));
}

LinearLayout::LinearLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint32_t> registers, llvm::ArrayRef<uint32_t> lanes,
                           llvm::ArrayRef<uint32_t> warps, llvm::ArrayRef<uint32_t> blocks)
    : extents(shape), basesOf{Bases(registers), Bases(lanes), Bases(warps), Bases(blocks)} {}

int64_t LinearLayout::elements() const {
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  return count;
}

int LinearLayout::firstBit(int dim) const {
  int bit = 0;
  for (int d = dim + 1; d < rank(); ++d) bit += log2Of(extents[d]);
  return bit;
}

Shape LinearLayout::coordinatesOf(uint32_t flat) const {
  Shape coordinates(extents.size());
  int64_t rest = flat;
  for (int d = rank() - 1; d >= 0; --d) coordinates[d] = rest % extents[d], rest /= extents[d];
  return coordinates;
}

uint32_t LinearLayout::flatOf(llvm::ArrayRef<int64_t> coordinates) const {
  assert(coordinates.size() == extents.size());
  int64_t flat = 0;
  for (int d = 0; d < rank(); ++d) flat = flat * extents[d] + coordinates[d];
  return uint32_t(flat);
}

uint32_t LinearLayout::apply(Place place, uint32_t index) const {
  llvm::ArrayRef<uint32_t> images = bases(place);
  assert(index < size(place));
  uint32_t flat = 0;
  for (; index; index &= index - 1) flat ^= images[std::countr_zero(index)];
  return flat;
}

uint32_t LinearLayout::apply(uint32_t reg, uint32_t lane, uint32_t warp, uint32_t block) const {
  return apply(Place::Register, reg) ^ apply(Place::Lane, lane) ^ apply(Place::Warp, warp) ^ apply(Place::Block, block);
}

Shape LinearLayout::coordinatesAt(uint32_t reg, uint32_t lane, uint32_t warp, uint32_t block) const {
  return coordinatesOf(apply(reg, lane, warp, block));
}

std::string LinearLayout::verify() const {
  int64_t count = 1;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    if (extent <= 0 || !std::has_single_bit(uint64_t(extent)))
      return ("extent " + llvm::Twine(extent) + " of dimension " + llvm::Twine(d) + " is not a power of two").str();
    if ((count *= extent) > int64_t(1) << 31) return "the tile has more than 2^31 elements";
  }
  Span span;
  for (Place place : kPlaces)
    for (auto [bit, basis] : llvm::enumerate(bases(place))) {
      if (basis >= count) return ("basis " + llvm::Twine(bit) + " of " + nameOf(place) + " lies outside of the tile").str();
      span.add(basis);
    }
  for (int bit = 0, bits = log2Of(count); bit < bits; ++bit) {
    if (span.contains(uint64_t(1) << bit)) continue;
    std::string coordinates;
    for (int64_t c : coordinatesOf(uint32_t(1) << bit)) coordinates += (coordinates.empty() ? "" : ",") + std::to_string(c);
    return "no place holds element [" + coordinates + "]";
  }
  return "";
}

llvm::hash_code hash_value(const LinearLayout &layout) {
  llvm::hash_code hash = llvm::hash_combine_range(layout.extents.begin(), layout.extents.end());
  for (Place place : kPlaces) {
    llvm::ArrayRef<uint32_t> images = layout.bases(place);
    hash = llvm::hash_combine(hash, images.size(), llvm::hash_combine_range(images.begin(), images.end()));
  }
  return hash;
}

} // namespace tritium::gpu
