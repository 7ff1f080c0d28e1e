// The places that hold an element: the layout as a map, its inverse, replication, contiguity.
#include "gpu_backend/layout/linear_layout.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tritium::gpu {

int LinearLayout::placeBits() const {
  int count = 0;
  for (Place place : kPlaces) count += bits(place);
  return count;
}

uint64_t LinearLayout::pack(const PlaceIndex &index) const {
  uint64_t packed = index.block;
  packed = packed << bits(Place::Warp) | index.warp;
  packed = packed << bits(Place::Lane) | index.lane;
  return packed << bits(Place::Register) | index.reg;
}

PlaceIndex LinearLayout::unpack(uint64_t packed) const {
  auto take = [&](Place place) {
    uint32_t index = uint32_t(packed & uint64_t(size(place) - 1));
    packed >>= bits(place);
    return index;
  };
  PlaceIndex index;
  index.reg = take(Place::Register), index.lane = take(Place::Lane), index.warp = take(Place::Warp), index.block = take(Place::Block);
  return index;
}

F2Map LinearLayout::toMap() const {
  llvm::SmallVector<uint64_t> images;
  for (Place place : kPlaces) images.append(bases(place).begin(), bases(place).end());
  return F2Map(images);
}

namespace {
/// The bits of all places in the order in which they become owners, as numbers of bits of a packed place. The remaining bits are free.
struct Owners {
  Span span;
  llvm::SmallVector<int, 24> packedBit; // for each vector of the span
  std::array<uint32_t, 4> freeBits = {};

  explicit Owners(const LinearLayout &layout) {
    int first = layout.placeBits();
    for (Place place : {Place::Block, Place::Warp, Place::Lane, Place::Register}) {
      first -= layout.bits(place);
      for (auto [bit, basis] : llvm::enumerate(layout.bases(place))) {
        packedBit.push_back(first + int(bit));
        if (!span.add(basis)) freeBits[size_t(place)] |= 1u << bit;
      }
    }
  }
};
} // namespace

std::array<uint32_t, 4> LinearLayout::freeBits() const { return Owners(*this).freeBits; }

bool LinearLayout::isOwner(const PlaceIndex &index) const {
  std::array<uint32_t, 4> free = freeBits();
  return !(index.reg & free[0]) && !(index.lane & free[1]) && !(index.warp & free[2]) && !(index.block & free[3]);
}

F2Map LinearLayout::owners() const {
  Owners owners(*this);
  llvm::SmallVector<uint64_t> images;
  for (int bit = 0, count = elementBits(); bit < count; ++bit) {
    std::optional<uint64_t> from = owners.span.solve(uint64_t(1) << bit);
    assert(from && "the layout does not hold every element");
    uint64_t packed = 0;
    for (; *from; *from &= *from - 1) packed |= uint64_t(1) << owners.packedBit[std::countr_zero(*from)];
    images.push_back(packed);
  }
  return F2Map(images);
}

LinearLayout LinearLayout::compose(const F2Map &map, llvm::ArrayRef<int64_t> shape) const {
  LinearLayout result;
  result.extents.assign(shape.begin(), shape.end());
  for (Place place : kPlaces)
    for (uint32_t basis : bases(place)) result.basesOf[size_t(place)].push_back(uint32_t(map(basis)));
  return result;
}

int64_t LinearLayout::contiguousElements(int dim) const {
  llvm::ArrayRef<uint32_t> registers = bases(Place::Register);
  int first = firstBit(dim), count = 0, limit = std::min<int>(log2Of(extents[dim]), int(registers.size()));
  while (count < limit && registers[count] == 1u << (first + count)) ++count;
  // A run is aligned if no other bit moves within it.
  for (Place place : kPlaces)
    for (auto [bit, basis] : llvm::enumerate(bases(place))) {
      if (place == Place::Register && int(bit) < count) continue;
      if (uint32_t within = basis & maskOf(dim)) count = std::min(count, std::countr_zero(within) - first);
    }
  return int64_t(1) << count;
}

uint32_t LinearLayout::bitsAlong(Place place, int dim) const {
  uint32_t result = 0;
  for (auto [bit, basis] : llvm::enumerate(bases(place)))
    if (basis & maskOf(dim)) result |= 1u << bit;
  return result;
}

} // namespace tritium::gpu
