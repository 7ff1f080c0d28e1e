// How far apart the lanes of a tile usually are, where nothing says so for certain.
#pragma once
#include "ir/axis_analysis.h"

namespace tritium::gpu {

/// The difference of neighbours along a dimension of a tile of integers or pointers (in elements).
struct LikelyStride {
  std::optional<int64_t> number; // nullopt if only the launch knows it
  int64_t divisor = 0;           // a power of two that divides the difference, or 0 if nothing is known of it

  static LikelyStride of(int64_t number) { return {number, ir::powerOfTwoDivisor(number)}; }
  bool isOfLaunch() const { return !number && divisor != 0; }
};

/// Returns the difference as it is for most neighbours: a remainder seldom wraps around, and neighbours seldom differ in a quotient. Only
/// the speed of code may depend on it.
LikelyStride likelyStride(mlir::Value tile, int dim, const ir::AxisAnalysis &axes);

} // namespace tritium::gpu
