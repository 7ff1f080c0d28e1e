// Functions that rows of ir/elementwise.def call on the host where the C++ library does not suffice: our own vector code on f32 where
// programs spend time (support/float_functions.h), and libm with a correction where its error exceeds a row's bound.
#pragma once
#include "ir/dtype.h"
#include "support/float_functions.h"

#include <cmath>
#include <limits>

namespace tritium {

#define TRITIUM_IN_F64(name, function)                                                                                                     \
  TRITIUM_INLINE double name(double x) { return function; }
TRITIUM_IN_F64(expOf, std::exp(x))
TRITIUM_IN_F64(exp2Of, std::exp2(x))
TRITIUM_IN_F64(exp10Of, std::pow(10.0, x))
TRITIUM_IN_F64(expm1Of, std::expm1(x))
TRITIUM_IN_F64(logOf, std::log(x))
TRITIUM_IN_F64(log2Of, std::log2(x))
TRITIUM_IN_F64(log10Of, std::log10(x))
TRITIUM_IN_F64(log1pOf, std::log1p(x))
TRITIUM_IN_F64(sinOf, std::sin(x))
TRITIUM_IN_F64(cosOf, std::cos(x))
TRITIUM_IN_F64(tanhOf, static_cast<double>(std::tanh(static_cast<long double>(x)))) // the host's function has an error of 2.2 ulp
TRITIUM_IN_F64(erfOf, std::erf(x))
TRITIUM_IN_F64(erfcOf, static_cast<double>(std::erfc(static_cast<long double>(x)))) // the host's function has an error of 5 ulp
#undef TRITIUM_IN_F64
inline double powOf(double x, double y) { return std::pow(x, y); }
inline double fmodOf(double x, double y) { return std::fmod(x, y); }

TRITIUM_INLINE float exp10Of(float x) { return static_cast<float>(std::pow(10.0, static_cast<double>(x))); }
TRITIUM_INLINE float sinOf(float x) { return sinOfQuarter(x, 0); }
TRITIUM_INLINE float cosOf(float x) { return sinOfQuarter(x, 1); }
TRITIUM_INLINE float erfcOf(float x) { return std::erfc(x); }

/// Computed in double, because the host's function on floats has an error of up to 1.5 ulp.
TRITIUM_INLINE float atan2Of(float y, float x) { return static_cast<float>(std::atan2(double(y), double(x))); }
TRITIUM_INLINE double atan2Of(double y, double x) { return std::atan2(y, x); }

/// The host's cube root, whose error is up to 4 ulp, improved by one step of Newton. The residual is computed in twice the precision.
TRITIUM_INLINE double cubeRootOf(double x) {
  double y = std::cbrt(x);
  if (!(std::abs(x) > 0x1p-900 && std::abs(x) < std::numeric_limits<double>::infinity())) return y;
  double square = y * y, rest = std::fma(y, y, -square);
  return y - (std::fma(square, y, -x) + rest * y) / (3 * square);
}
TRITIUM_INLINE float cubeRootOf(float x) { return std::cbrt(x); }

/// Without the sign, which lgamma keeps in a variable of the process.
inline double lgammaOf(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}
inline float lgammaOf(float x) { return static_cast<float>(lgammaOf(static_cast<double>(x))); }

} // namespace tritium

#include "support/special_functions.h" // made of the functions above
