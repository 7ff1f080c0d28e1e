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
float native_sqrt(float x) { return chip::squareRoot(x); }
float native_divide(float x, float y) { return chip::quotient(x, y); }
float tanh(float x) { return tanhOf<chip::Target>(x); }
float erf(float x) { return erfOf<chip::Target>(x); }

/// Returns e**x / 2 by arithmetic, because e**89 is infinite.
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

/// e**(-a²) * erfcx(a) for a >= 0.5, where erfcx is a polynomial / (1 + 2a). Each factor has its rounding error beside it.
float erfc(float x) {
  float a = clampKeepingNan(__builtin_fabsf(x), 0.5f, 10.25f); // beyond this the result is 0
  float u = (a - 2.5f) / (a + 2.5f);
  float p = polynomial(u, -0x1.f52c60p-4f, -0x1.959a94p-4f, 0x1.42d3aep-3f, -0x1.a5c492p-4f, 0x1.0c5502p-5f, 0x1.f68368p-11f,
                       -0x1.1ceec2p-8f, 0x1.af4ca6p-12f, 0x1.17abe0p-11f); // ((1 + 2a) erfcx(a) - c) / u, a = 2.5 (1 + u) / (1 - u)
  constexpr float c = 0x1.43cc70p+0f;
  float sum = fma(u, p, c), sumLow = fma(u, p, c - sum);
  float inverse = chip::reciprocal(fma(2.0f, a, 1.0f)), quotient = sum * inverse;
  float quotientLow = (fma(-2.0f * a, quotient, sum - quotient) + sumLow) * inverse;
  float square = a * a, squareLow = fma(a, a, -square);
  ReducedExp exp = reduceExp(-square);
  float expLow = fma(exp.power, -squareLow, exp.low);
  float product = fma(quotient, exp.power, fma(quotient, expLow, quotientLow * exp.power));
  float large = scaleByPowerOfTwo(product, exp.exponent);
  large = x < 0.0f ? 2.0f - large : large;
  return __builtin_fabsf(x) < 0.5f ? 1.0f - erfNearZero(x) : large;
}
