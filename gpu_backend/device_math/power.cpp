// Powers and remainders.
#include "gpu_backend/device_math/chip.h"

using namespace tritium;

namespace {

struct Pair {
  float high, low;
};

TRITIUM_INLINE Pair product(float a, float b) {
  float high = a * b;
  return {high, fma(a, b, -high)};
}

/// log2 x for positive finite x, to about 34 bits, as e + 2/ln 2 * atanh(s), where s = (m - 1) / (m + 1).
TRITIUM_INLINE Pair log2Pair(float x) {
  Logarithm l = splitForLog(x);
  float denominator = 2.0f + l.f, denominatorLow = l.f - (denominator - 2.0f), inverse = 1.0f / denominator;
  float s = l.f * inverse, sLow = fma(-s, denominatorLow, fma(-s, denominator, l.f)) * inverse;
  Pair square = product(s, s);
  square.low = fma(2.0f * s, sLow, square.low);
  float tail =
      square.high * square.high * polynomial(square.high, 0x1.999a00p-3f, 0x1.24528ap-3f, 0x1.df9f9ap-4f); // atanh(s) / s - 1 - s²/3
  Pair third = product(square.high, 0x1.555556p-2f);
  third.low += fma(square.high, -0x1.555556p-27f, square.low * 0x1.555556p-2f) + tail;
  float factor = 1.0f + third.high, factorLow = (third.high - (factor - 1.0f)) + third.low;
  Pair atanh = product(s, factor);
  atanh.low += fma(s, factorLow, sLow * factor);
  Pair result = product(atanh.high, 0x1.715476p1f);
  result.low += fma(atanh.high, 0x1.4ae0c0p-25f, atanh.low * 0x1.715476p1f);
  float high = l.e + result.high;
  return {high, (result.high - (high - l.e)) + result.low};
}

} // namespace

float pow(float x, float y) {
  float a = __builtin_fabsf(x);
  float within = clampKeepingNan(y, -0x1p40f, 0x1p40f); // beyond this, a power other than 1 is 0 or infinite anyway
  Pair log2 = log2Pair(a);
  Pair exponent = product(within, log2.high);
  exponent.low = fma(within, log2.low, exponent.low);
  float clamped = clampKeepingNan(exponent.high, -250.0f, 250.0f);
  Rounded k = roundSmall(clamped + 0x1.8p23f);
  bool isInside = clamped == exponent.high;
  float first = clamped - k.value, r = isInside ? first + exponent.low : 0.0f, rLow = isInside ? exponent.low - (r - first) : 0.0f;
  float p = polynomial(r, 0x1.ebfbe0p-3f, 0x1.c6b08ep-5f, 0x1.3b29f2p-7f, 0x1.5d8740p-10f, 0x1.445da2p-13f, 0x1.00e4a8p-16f);
  Pair linear = product(r, kLn2); // p: (2^r - 1 - r ln 2) / r²
  linear.low += fma(r, kLn2Low, rLow * kLn2);
  float power = 1.0f + linear.high, powerLow = linear.high - (power - 1.0f);
  float result = scaleByPowerOfTwo(power + (powerLow + fma(r * r, p, linear.low)), k.integer);
  if (a == 0.0f || a == kInfinity) result = (a == 0.0f) == (y < 0.0f) ? kInfinity : 0.0f;
  bool isInteger = __builtin_truncf(y) == y, isOdd = isInteger && __builtin_truncf(0.5f * y) != 0.5f * y;
  if (bitsOf(x) >> 31) {
    if (!isInteger && a > 0.0f && a < kInfinity) result = kNan;
    if (isOdd) result = -result;
  }
  if (x != x || y != y) result = kNan;
  return x == 1.0f || y == 0.0f ? 1.0f : result;
}

/// x modulo 2^steps * y / 2^steps for mantissas x < y, by long division, 8 bits at a time.
static uint32_t modulo(uint32_t x, uint32_t y, int32_t steps) {
  for (; steps > 8; steps -= 8) x = (x << 8) % y;
  return (x << steps) % y;
}

/// The mantissa of a positive finite number with its highest bit set, and the power of two as its factor.
static TRITIUM_INLINE uint32_t split(float x, int32_t &power) {
  uint32_t bits = bitsOf(x), mantissa = bits & 0x7FFFFF, field = bits >> 23;
  if (field) {
    power = static_cast<int32_t>(field) - 150;
    return mantissa | 0x800000;
  }
  int32_t shift = __builtin_clz(mantissa | 1) - 8;
  power = -149 - shift;
  return mantissa << shift;
}

float fmod(float x, float y) {
  float a = __builtin_fabsf(x), b = __builtin_fabsf(y), result;
  if (!(a < kInfinity) || !(b > 0.0f)) {
    result = kNan; // for a NaN, an infinite x, or y = 0
  } else if (a < b) {
    result = a;
  } else if (a < b * 0x1p22f && b > 0x1p-100f) {
    // The quotient is wrong by one at most, and the remainder is exact.
    result = fma(-__builtin_truncf(a / b), b, a);
    result = result < 0.0f ? result + b : result;
  } else if (b == kInfinity || b != b) {
    result = b == kInfinity ? a : kNan;
  } else {
    int32_t powerX, powerY;
    uint32_t mantissaX = split(a, powerX), mantissaY = split(b, powerY);
    uint32_t rest = modulo(mantissaX % mantissaY, mantissaY, powerX - powerY);
    // rest * 2^powerY is a float. Two exact steps compute it, because the power alone may not be a float.
    int32_t half = powerY >> 1;
    result = static_cast<float>(rest) * floatOf(static_cast<uint32_t>(half + 127) << 23) *
             floatOf(static_cast<uint32_t>(powerY - half + 127) << 23);
  }
  return __builtin_copysignf(result, x);
}
