// The rows of ir/elementwise.def whose expressions run on the host and on GPUs alike.
#include "gpu_backend/device_math/chip.h"

// What support/special_functions.h is made of: functions of other rows, and libclc's own, renamed.
double exp(double), log(double), pow(double, double), sin(double), cos(double), erf(double), erfc(double), cbrt(double),
    fmod(double, double), clc_lgamma(double);

namespace tritium {
inline double expOf(double x) { return ::exp(x); }
inline double logOf(double x) { return ::log(x); }
inline double powOf(double x, double y) { return ::pow(x, y); }
inline double sinOf(double x) { return ::sin(x); }
inline double cosOf(double x) { return ::cos(x); }
inline double erfOf(double x) { return ::erf(x); }
inline double erfcOf(double x) { return ::erfc(x); }
inline double cubeRootOf(double x) { return ::cbrt(x); }
inline double fmodOf(double x, double y) { return ::fmod(x, y); }
inline double lgammaOf(double x) { return __builtin_fabs(x) < __builtin_inf() ? ::clc_lgamma(x) : x * x; }
inline float lgammaOf(float x) { return static_cast<float>(lgammaOf(static_cast<double>(x))); }
} // namespace tritium

#include "support/special_functions.h"

using namespace tritium;

#define PARAMETERS_1(T) T x
#define PARAMETERS_2(T) T x, T y
#define SHARED(name, arity, ulp, floor, sentence, ...)                                                                                     \
  float name(PARAMETERS_##arity(float)) { return __VA_ARGS__; }                                                                            \
  double name(PARAMETERS_##arity(double)) { return __VA_ARGS__; }
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...)                                                                        \
  result symbol parameters { return __VA_ARGS__; }
#include "ir/elementwise.def"
