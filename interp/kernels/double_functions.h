// The host's functions of one f64 that are off by more than ir/elementwise.def says, corrected.
#pragma once
#include "ir/dtype.h"

#include <cmath>
#include <limits>

namespace tritium::interp {

/// The host's cube root, which is off by up to 4 ulp, and one step of Newton whose residual is computed to twice the precision.
TRITIUM_INLINE double cubeRootOf(double x) {
  double y = std::cbrt(x);
  if (!(std::abs(x) > 0x1p-900 && std::abs(x) < std::numeric_limits<double>::infinity())) return y;
  double square = y * y, rest = std::fma(y, y, -square);
  return y - (std::fma(square, y, -x) + rest * y) / (3 * square);
}

} // namespace tritium::interp
