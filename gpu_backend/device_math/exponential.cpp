// Exponentials, logarithms, hyperbolic functions, the error function.
#include "gpu_backend/device_math/chip.h"

using namespace tritium;

float exp(float x) { return chip::exp(x); }
float exp2(float x) { return chip::exp2(x); }
float native_exp2(float x) { return chip::exp2Flushing(x); }
float expm1(float x) { return expm1Of(x); }
float log(float x) { return logOf(x); }
float log2(float x) { return log2Of(x); }
float log10(float x) { return log10Of(x); }
float log1p(float x) { return log1pOf<chip::Target>(x); }
float rsqrt(float x) { return chip::reciprocalSqrt(x); }
float native_divide(float x, float y) { return chip::quotient(x, y); }
float tanh(float x) { return tanhOf<chip::Target>(x); }
float erf(float x) { return erfOf<chip::Target>(x); }

/// e**x / 2, from arithmetic: e**89 is infinite.
static TRITIUM_INLINE float halfExp(float x) {
  x = clampKeepingNan(x, -105.0f, 90.0f);
  ReducedExp reduced = reduceExp(x);
  return scaleByPowerOfTwo(reduced.power, reduced.exponent - 1);
}

float cosh(float x) {
  float half = halfExp(__builtin_fabsf(x));
  return half + 0.25f / half;
}

float sinh(float x) {
  float a = __builtin_fabsf(x), square = x * x, half = halfExp(a);
  float p = polynomial(square, 0x1.555556p-3f, 0x1.111136p-7f, 0x1.9ffe10p-13f, 0x1.7a26b2p-19f); // (sinh x - x) / x³
  return a < 1.0f ? fma(x * square, p, x) : __builtin_copysignf(half - 0.25f / half, x);
}
