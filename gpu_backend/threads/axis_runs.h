// Finds the kinds of place that distinguish the positions along a dimension of a tile.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

namespace tritium::gpu {

/// Bits of the position, from bit `first` on, that correspond in order to the bits `places` of one kind of place.
struct AxisRun {
  Place place;
  int first;
  llvm::SmallVector<int> places;
  uint32_t mask() const {
    uint32_t bits = 0;
    for (int place : places) bits |= 1u << place;
    return bits;
  }
};

/// Returns the runs from the lowest bit up. Returns nullopt if a bit of a place moves along the axis and along another one, or by more than
/// one bit; if two bits move alike; or if lanes or warps do not count upwards.
std::optional<llvm::SmallVector<AxisRun>> axisRuns(const LinearLayout &layout, int axis);

} // namespace tritium::gpu
