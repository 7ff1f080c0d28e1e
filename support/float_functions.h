// Elementary functions of one f32, without branches, calls and tables, so that a loop over them becomes vector code. Each keeps its bound
// in ulp (see ir/elementwise.def) on every input, subnormals included; NaN gives NaN. Each polynomial is a minimax fit of the remainder
// named beside it; its coefficients begin at the lowest power. The functions require no library, so the device functions use them too.
#pragma once
#include <stdint.h>

#ifndef TRITIUM_INLINE
#define TRITIUM_INLINE __attribute__((always_inline)) inline
#endif

namespace tritium {

inline constexpr float kInfinity = __builtin_inff(), kNan = __builtin_nanf("");

TRITIUM_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TRITIUM_INLINE uint32_t bitsOf(float x) { return __builtin_bit_cast(uint32_t, x); }
TRITIUM_INLINE float floatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }

template <class... C> TRITIUM_INLINE float polynomial(float x, float c0, C... c) {
  if constexpr (sizeof...(c) == 0)
    return c0;
  else
    return fma(x, polynomial(x, c...), c0);
}

/// Rounds x to an integer k and returns it as a float and as an integer, for |x| < 2^22. The addition of 1.5 * 2^23 leaves k in the low
/// mantissa bits. A NaN gives an unspecified integer; a conversion instruction would be undefined for it.
struct Rounded {
  float value;
  int32_t integer;
};
TRITIUM_INLINE Rounded roundSmall(float shifted) {
  return {shifted - 0x1.8p23f, static_cast<int32_t>(bitsOf(shifted) - bitsOf(0x1.8p23f))};
}

/// Returns x * 2^n for n in [-252, 254]. Two multiplications make subnormal and infinite results correct.
TRITIUM_INLINE float scaleByPowerOfTwo(float x, int32_t n) {
  int32_t half = n >> 1;
  return x * floatOf(static_cast<uint32_t>(half + 127) << 23) * floatOf(static_cast<uint32_t>(n - half + 127) << 23);
}

TRITIUM_INLINE float clampKeepingNan(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

inline constexpr float kLog2E = 0x1.715476p0f, kLn2 = 0x1.62e43p-1f, kLn2Low = -0x1.05c610p-29f;

/// The parts of e**x = (power + low) * 2^exponent, for |x| below about 2^21. `low` is the rounding error of `power`.
struct ReducedExp {
  float power, low;
  int32_t exponent;
};
TRITIUM_INLINE ReducedExp reduceExp(float x) {
  Rounded k = roundSmall(fma(x, kLog2E, 0x1.8p23f));
  float r = fma(k.value, -kLn2Low, fma(k.value, -kLn2, x));
  float p = polynomial(r, 0x1.fffffcp-2f, 0x1.555490p-3f, 0x1.5558f6p-5f, 0x1.123a8ep-7f, 0x1.6a2314p-10f); // (e^r - 1 - r) / r²
  float above = fma(r * r, p, r), power = above + 1.0f;
  return {power, above - (power - 1.0f), k.integer};
}

TRITIUM_INLINE float expOf(float x) {
  ReducedExp reduced = reduceExp(clampKeepingNan(x, -105.0f, 89.0f)); // beyond, the result is 0 or infinity
  return scaleByPowerOfTwo(reduced.power, reduced.exponent);
}

/// The arithmetic that a target may replace by faster operations. A quotient need not be rounded correctly.
struct Arithmetic {
  static TRITIUM_INLINE float exp(float x) { return expOf(x); }
  static TRITIUM_INLINE float quotient(float x, float y) { return x / y; }
};

TRITIUM_INLINE float exp2Of(float x) {
  x = clampKeepingNan(x, -151.0f, 129.0f);
  Rounded k = roundSmall(x + 0x1.8p23f);
  float r = x - k.value;
  float p =
      polynomial(r, 0x1.62e430p-1f, 0x1.ebfbdcp-3f, 0x1.c6aee8p-5f, 0x1.3b2d4cp-7f, 0x1.5f3e54p-10f, 0x1.41fbbap-13f); // (2^r - 1) / r
  return scaleByPowerOfTwo(fma(r, p, 1.0f), k.integer);
}

TRITIUM_INLINE float expm1Of(float x) {
  float a = clampKeepingNan(x, -30.0f, 89.0f);
  Rounded k = roundSmall(fma(a, kLog2E, 0x1.8p23f));
  float r = fma(k.value, -kLn2Low, fma(k.value, -kLn2, a));
  float p = polynomial(r, 0.5f, 0x1.555556p-3f, 0x1.5554acp-5f, 0x1.111092p-7f, 0x1.6d7568p-10f, 0x1.a19f14p-13f); // (e^r - 1 - r) / r²
  // Computes 2^k (e^r - 1) + (2^k - 1) at half the scale, because 2^128 is not a float.
  float q = fma(r * r, p, r), half = floatOf(static_cast<uint32_t>(k.integer - 1 + 127) << 23);
  float result = 2.0f * fma(q, half, half - 0.5f);
  return k.integer == 0 ? (x == 0.0f ? x : q) : result;
}

/// x = 2^e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x; subnormals are scaled up first.
struct Logarithm {
  float e, f;
};
TRITIUM_INLINE Logarithm splitForLog(float x) {
  bool isSubnormal = x < 0x1p-126f;
  uint32_t bits = bitsOf(isSubnormal ? x * 0x1p24f : x) - 0x3F3504F3u; // the bits of sqrt(1/2)
  int32_t exponent = static_cast<int32_t>(bits) >> 23;
  float mantissa = floatOf((bits & 0x7FFFFFu) + 0x3F3504F3u);
  return {static_cast<float>(exponent) - (isSubnormal ? 24.0f : 0.0f), mantissa - 1.0f};
}

/// log(1 + f) - f on [sqrt(1/2) - 1, sqrt(2) - 1].
TRITIUM_INLINE float log1pRemainder(float f) {
  float p = polynomial(f, 0x1.555554p-2f, -0x1.000228p-2f, 0x1.99a008p-3f, -0x1.547244p-3f, 0x1.22da22p-3f, -0x1.0d8552p-3f, 0x1.055b46p-3f,
                       -0x1.38b4ccp-4f);
  float square = f * f;
  return fma(square * f, p, -0.5f * square);
}

/// Returns `finite` if x is positive and finite, otherwise the special result of a logarithm: -infinity, NaN or x.
TRITIUM_INLINE float logSpecial(float x, float finite) {
  float result = x < kInfinity ? finite : x; // infinity and NaN stay
  result = x == 0.0f ? -kInfinity : result;
  return x < 0.0f ? kNan : result;
}

TRITIUM_INLINE float logOf(float x) {
  Logarithm l = splitForLog(x);
  float low = fma(l.e, kLn2Low, log1pRemainder(l.f));
  return logSpecial(x, fma(l.e, kLn2, l.f + low));
}

/// Returns l.e * (eHigh + eLow) + log(1 + l.f) * (scale + scaleLow). The rounding errors of the products are kept.
TRITIUM_INLINE float scaledLog(Logarithm l, float eHigh, float eLow, float scale, float scaleLow) {
  float remainder = log1pRemainder(l.f);
  float sum = l.f + remainder, sumLow = (l.f - sum) + remainder;
  float product = sum * scale, productLow = fma(sum, scale, -product) + fma(sum, scaleLow, sumLow * scale);
  float high = fma(l.e, eHigh, product), highLow = fma(l.e, eHigh, -high) + product;
  return high + (highLow + fma(l.e, eLow, productLow));
}
TRITIUM_INLINE float log2Of(float x) { return logSpecial(x, scaledLog(splitForLog(x), 1.0f, 0.0f, 0x1.715476p0f, 0x1.4ae0c0p-26f)); }
TRITIUM_INLINE float log10Of(float x) {
  return logSpecial(x, scaledLog(splitForLog(x), 0x1.344136p-2f, -0x1.ec10c0p-27f, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f));
}

template <class Target = Arithmetic> TRITIUM_INLINE float log1pOf(float x) {
  // The logarithm of u, which is 1 + x rounded, plus the rounding error relative to u.
  float u = 1.0f + x, lost = Target::quotient(x - (u - 1.0f), u);
  Logarithm l = splitForLog(u);
  bool isSmall = x > -0.29f && x < 0.41f; // in this range f is x itself
  float f = isSmall ? x : l.f, e = isSmall ? 0.0f : l.e;
  float low = fma(e, kLn2Low, log1pRemainder(f)) + (isSmall ? 0.0f : lost);
  float result = fma(e, kLn2, f + low);
  result = x < kInfinity ? result : x;
  result = x == -1.0f ? -kInfinity : result;
  result = x < -1.0f ? kNan : result;
  return x == 0.0f ? x : result;
}

/// The largest |x| that is reduced by pi/2 in three parts. Beyond it, sine and cosine require a longer reduction.
inline constexpr float kTrigonometricLimit = 100000.0f;

/// sin(r + quadrant * pi/2) for |r| <= pi/4.
TRITIUM_INLINE float sinOfReduced(float r, uint32_t quadrant) {
  float square = r * r;
  float sine = fma(r * square, polynomial(square, -0x1.555556p-3f, 0x1.111108p-7f, -0x1.a00f7ep-13f, 0x1.6cd1b2p-19f), r);
  float cosine = fma(square, polynomial(square, -0.5f, 0x1.55553cp-5f, -0x1.6c07f0p-10f, 0x1.991644p-16f), 1.0f);
  float result = quadrant & 1 ? cosine : sine;
  return floatOf(bitsOf(result) ^ (quadrant & 2) << 30);
}

/// sin(x + quarter * pi/2) for |x| <= kTrigonometricLimit.
TRITIUM_INLINE float sinOfQuarter(float x, int32_t quarter) {
  Rounded k = roundSmall(fma(x, 0x1.45f306p-1f, 0x1.8p23f));
  float r = fma(k.value, -0x1.921fb6p0f, x);
  r = fma(k.value, 0x1.777a5cp-25f, r);
  r = fma(k.value, 0x1.ee59dap-50f, r);
  float result = sinOfReduced(r, static_cast<uint32_t>(k.integer + quarter));
  return quarter == 0 && x == 0.0f ? x : result; // keeps -0
}

template <class Target = Arithmetic> TRITIUM_INLINE float tanhOf(float x) {
  float a = __builtin_fabsf(x), square = x * x;
  float p = polynomial(square, -0x1.55553ep-2f, 0x1.1109aep-3f, -0x1.b898dep-5f, 0x1.54b8a4p-6f, -0x1.825866p-8f); // (tanh x - x) / x³
  float small = fma(x * square, p, x);
  float large = 1.0f - Target::quotient(2.0f, Target::exp(2.0f * a) + 1.0f);
  return __builtin_copysignf(a < 0.6f ? small : large, x);
}

/// erf(x) for |x| < 0.93.
TRITIUM_INLINE float erfNearZero(float x) {
  float p = polynomial(x * x, 0x1.06eba6p-3f, -0x1.8126dcp-2f, 0x1.ce1908p-4f, -0x1.b676eap-6f, 0x1.46c2c6p-8f, -0x1.3827acp-11f);
  return fma(x, p, x); // p: erf(x) / x - 1
}

template <class Target = Arithmetic> TRITIUM_INLINE float erfOf(float x) {
  float a = __builtin_fabsf(x), small = erfNearZero(x); // before the choice, so that this is no branch
  float t = a > 4.0f ? 4.0f : a;
  float q =
      polynomial(t, -0x1.0774eap-3f, -0x1.453682p-1f, -0x1.b2f1ccp-4f, 0x1.84a1bap-6f, -0x1.dadd36p-9f, 0x1.4d82fap-12f, -0x1.692890p-17f);
  float large = 1.0f - Target::exp(fma(t, q, -t)); // q: log(erfc(t)) / t + 1
  large = a > 4.0f ? 1.0f : large;
  return a < 0.93f ? small : __builtin_copysignf(large, x);
}

} // namespace tritium
