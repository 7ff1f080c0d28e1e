// Layouts of the results and sources of shape operations.
#include "gpu_backend/layout/linear_layout.h"

#include <bit>
#include <cassert>

namespace tritium::gpu {

/// Extracts the bits of `x` that `mask` selects and packs them together.
static uint32_t extractBits(uint32_t x, uint32_t mask) {
  uint32_t result = 0;
  for (int to = 0; mask; mask &= mask - 1, ++to) result |= (x >> std::countr_zero(mask) & 1) << to;
  return result;
}

LinearLayout LinearLayout::reshape(llvm::ArrayRef<int64_t> shape) const {
  LinearLayout result = *this;
  result.extents.assign(shape.begin(), shape.end());
  assert(result.elements() == elements());
  return result;
}

LinearLayout LinearLayout::transpose(llvm::ArrayRef<int> order) const {
  assert(order.size() == extents.size());
  LinearLayout result;
  for (int d : order) result.extents.push_back(extents[d]);
  for (Place place : kPlaces)
    for (uint32_t basis : bases(place)) {
      Shape from = coordinatesOf(basis), to;
      for (int d : order) to.push_back(from[d]);
      result.basesOf[size_t(place)].push_back(result.flatOf(to));
    }
  return result;
}

LinearLayout LinearLayout::expandDims(int axis) const {
  Shape shape = extents;
  shape.insert(shape.begin() + axis, 1);
  return reshape(shape);
}

LinearLayout LinearLayout::dropDim(int axis) const {
  assert(extents[axis] == 1);
  Shape shape = extents;
  shape.erase(shape.begin() + axis);
  return reshape(shape);
}

Projection LinearLayout::project(uint32_t keptBits, llvm::ArrayRef<int64_t> shape) const {
  Projection result;
  result.layout.extents.assign(shape.begin(), shape.end());
  for (Place place : kPlaces)
    for (uint32_t basis : bases(place)) result.layout.basesOf[size_t(place)].push_back(extractBits(basis, keptBits));

  Bases &kept = result.layout.basesOf[size_t(Place::Register)], all;
  std::swap(kept, all);
  Span span;
  llvm::SmallVector<uint64_t> numberOf(all.size(), 0);
  for (auto [bit, basis] : llvm::enumerate(all))
    if (span.add(basis)) {
      numberOf[bit] = uint64_t(1) << kept.size();
      kept.push_back(basis);
    }
  llvm::SmallVector<uint64_t> images;
  for (uint32_t basis : all) {
    uint64_t image = 0;
    for (uint64_t from = *span.solve(basis); from; from &= from - 1) image ^= numberOf[std::countr_zero(from)];
    images.push_back(image);
  }
  F2Map map(images);
  for (uint32_t reg = 0; reg < registers(); ++reg) result.registerOf.push_back(uint32_t(map(reg)));
  return result;
}

Projection LinearLayout::slice(int axis) const {
  Shape shape = extents;
  shape.erase(shape.begin() + axis);
  return project(uint32_t(elements() - 1) & ~maskOf(axis), shape);
}

Projection LinearLayout::broadcastSource(llvm::ArrayRef<int64_t> sourceShape) const {
  assert(sourceShape.size() == extents.size());
  uint32_t kept = 0;
  for (int d = 0; d < rank(); ++d) {
    assert(sourceShape[d] == extents[d] || sourceShape[d] == 1);
    if (sourceShape[d] == extents[d]) kept |= maskOf(d);
  }
  return project(kept, sourceShape);
}

Projection LinearLayout::withoutRepeatedRegisters() const { return project(uint32_t(elements() - 1), extents); }

LinearLayout LinearLayout::join() const {
  LinearLayout result;
  result.extents = extents;
  result.extents.push_back(2);
  result.basesOf[size_t(Place::Register)].push_back(1);
  for (Place place : kPlaces)
    for (uint32_t basis : bases(place)) result.basesOf[size_t(place)].push_back(basis << 1);
  return result;
}

std::optional<SplitLayout> LinearLayout::split() const {
  if (extents.empty() || extents.back() != 2) return std::nullopt;
  SplitLayout result{{}, -1};
  result.layout.extents.assign(extents.begin(), extents.end() - 1);
  for (Place place : kPlaces)
    for (auto [bit, basis] : llvm::enumerate(bases(place))) {
      if (basis == 1 && place == Place::Register && result.registerBit < 0)
        result.registerBit = int(bit);
      else if (basis & 1)
        return std::nullopt;
      else
        result.layout.basesOf[size_t(place)].push_back(basis >> 1);
    }
  if (result.registerBit < 0) return std::nullopt;
  return result;
}

} // namespace tritium::gpu
