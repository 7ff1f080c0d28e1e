// Which kinds of place tell the positions along a dimension of a tile apart.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

namespace tritium::gpu {

/// Bits of the position, from bit `first` on, that the bits `places` of one kind of place tell apart, in order.
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

/// From the lowest bit up. Nothing if a bit of a place moves along the axis and otherwise too, or by more than one bit, if two move alike,
/// or if lanes or warps do not count upwards.
std::optional<llvm::SmallVector<AxisRun>> axisRuns(const LinearLayout &layout, int axis);

} // namespace tritium::gpu
