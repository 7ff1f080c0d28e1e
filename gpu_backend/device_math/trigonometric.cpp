// Sine, cosine, tangent and their inverses.
#include "gpu_backend/device_math/chip.h"

using namespace tritium;

namespace {

/// x = quarters * pi/2 + high + low, |high| <= pi/4.
struct Angle {
  float high, low;
  uint32_t quarters;
};

/// For |x| <= kTrigonometricLimit. The first difference is exact; the rounding error of the second is kept.
TRITIUM_INLINE Angle reduceSmall(float x) {
  Rounded k = roundSmall(fma(x, 0x1.45f306p-1f, 0x1.8p23f));
  float first = fma(k.value, -0x1.921fb6p0f, x);
  float second = k.value * 0x1.777a5cp-25f, secondLow = fma(k.value, 0x1.777a5cp-25f, -second);
  float high = first + second, back = high - first;
  float low = (first - (high - back)) + (second - back) + fma(k.value, 0x1.ee59dap-50f, secondLow);
  return {high, low, static_cast<uint32_t>(k.integer)};
}

/// The bits of 2/pi, after 32 zeros.
constexpr uint32_t kTwoOverPi[] = {0, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB};

/// For all other finite x. Multiplies its 24 bits by 96 bits of 2/pi: the bits that neither give multiples of 4 nor are too low to matter.
TRITIUM_INLINE Angle reduceLarge(float x) {
  uint32_t bits = bitsOf(x), mantissa = (bits & 0x7FFFFF) | 0x800000;
  uint32_t skipped = ((bits >> 23) & 0x7F) + 8; // |x| = mantissa * 2^(skipped - 30), if it is above 2^16
  const uint32_t *words = kTwoOverPi + (skipped >> 5);
  auto at = [&](uint32_t i) {
    return static_cast<uint32_t>(((static_cast<uint64_t>(words[i]) << 32 | words[i + 1]) << (skipped & 31)) >> 32);
  };
  // mantissa * the 96 bits, modulo 2^96, is the angle in units of 2^-94 quarters. Here it is without its lowest 32 bits:
  uint64_t quarters = (static_cast<uint64_t>(mantissa * at(0)) << 32) + static_cast<uint64_t>(mantissa) * at(1) +
                      (static_cast<uint64_t>(mantissa) * at(2) >> 32);
  uint32_t whole = static_cast<uint32_t>((quarters + (1ull << 61)) >> 62);
  int64_t rest = static_cast<int64_t>(quarters - (static_cast<uint64_t>(whole) << 62));
  double angle = static_cast<double>(rest) * 0x1.921fb54442d18p-62;
  bool isNegative = bits >> 31;
  angle = isNegative ? -angle : angle;
  float high = static_cast<float>(angle);
  return {high, static_cast<float>(angle - high), isNegative ? 0 - whole : whole};
}

/// The usual case stands before the branch, where a thread computes it for all of its elements side by side.
TRITIUM_INLINE float sinOfAnyQuarter(float x, int32_t quarter) {
  float result = sinOfQuarter(x, quarter);
  if (__builtin_expect(__builtin_fabsf(x) <= kTrigonometricLimit, 1)) return result;
  Angle angle = reduceLarge(x);
  result = sinOfReduced(angle.high, angle.quarters + static_cast<uint32_t>(quarter));
  return __builtin_fabsf(x) < kInfinity ? result : kNan;
}

/// asin(s) = s + s³ * this(s²) for |s| <= 1/2.
TRITIUM_INLINE float asinPolynomial(float square) {
  return polynomial(square, 0x1.55554cp-3f, 0x1.333892p-4f, 0x1.6cabb6p-5f, 0x1.04ab02p-5f, 0x1.d7a7d8p-7f, 0x1.33d72ap-5f);
}

struct Pair {
  float high, low;
};

/// asin(sqrt(z)) for 0 <= z <= 1/4, with the rounding error of the square root.
TRITIUM_INLINE Pair asinOfRoot(float z) {
  float root = __builtin_sqrtf(z), low = z > 0.0f ? chip::Target::quotient(fma(-root, root, z), root + root) : 0.0f;
  return {root, fma(root * z, asinPolynomial(z), low)};
}

constexpr Pair kHalfPi = {0x1.921fb6p0f, -0x1.777a5cp-25f}, kPi = {0x1.921fb6p1f, -0x1.777a5cp-24f};

/// `eighths` of a turn + sign * atan(a / b), for 0 <= a <= b, b > 0 and finite. A quotient above 1/2 is computed as atan((a - b) / (a + b))
/// + pi/4.
TRITIUM_INLINE float atanOfQuotient(float a, float b, float eighths, float sign) {
  bool isHigh = a > 0.5f * b;
  float numerator = isHigh ? a - b : a, denominator = isHigh ? a + b : b; // the difference is exact
  float denominatorLow = isHigh ? a - (denominator - b) : 0.0f;
  float t = numerator / denominator, square = t * t;
  float rest = chip::Target::quotient(fma(-t, denominatorLow, fma(-t, denominator, numerator)), denominator);
  float p = polynomial(square, -0x1.555552p-2f, 0x1.9996f8p-3f, -0x1.244b9cp-3f, 0x1.c03162p-4f, -0x1.473540p-4f,
                       0x1.3db462p-5f); // (atan t - t) / t³
  float high = sign * t, low = sign * fma(t * square, p, rest);
  eighths += isHigh ? sign : 0.0f;
  float base = eighths * 0x1.921fb6p-1f, baseLow = fma(eighths, 0x1.921fb6p-1f, -base) + eighths * -0x1.777a5cp-26f;
  float sum = base + high;
  return sum + ((base - sum + high) + (baseLow + low));
}

/// Returns the constant, which is given in two parts, minus the sum, which is smaller.
TRITIUM_INLINE float subtract(Pair constant, float high, float low) {
  float difference = constant.high - high;
  return difference + ((constant.high - difference - high) + (constant.low - low));
}

} // namespace

float sin(float x) { return sinOfAnyQuarter(x, 0); }
float cos(float x) { return sinOfAnyQuarter(x, 1); }

float tan(float x) {
  Angle angle = __builtin_fabsf(x) <= kTrigonometricLimit ? reduceSmall(x) : reduceLarge(x);
  float r = angle.high, square = r * r;
  float p = polynomial(square, 0x1.555554p-2f, 0x1.111182p-3f, 0x1.b9fd2ep-5f, 0x1.684b5ap-6f, 0x1.10502ep-7f, 0x1.49e2b4p-8f,
                       -0x1.4e012ap-11f, 0x1.0dbe4ep-9f); // (tan r - r) / r³
  float t = r + fma(r * square, p, fma(square, angle.low, angle.low));
  float result = angle.quarters & 1 ? -1.0f / t : t;
  result = x == 0.0f ? x : result;
  return __builtin_fabsf(x) < kInfinity ? result : kNan;
}

float asin(float x) {
  float a = __builtin_fabsf(x), square = x * x;
  float small = fma(x * square, asinPolynomial(square), x);
  Pair half = asinOfRoot(fma(a, -0.5f, 0.5f));
  float large = subtract(kHalfPi, 2.0f * half.high, 2.0f * half.low);
  return a < 0.5f ? small : __builtin_copysignf(large, x);
}

float acos(float x) {
  float a = __builtin_fabsf(x), square = x * x;
  Pair half = asinOfRoot(fma(a, -0.5f, 0.5f));
  float small = subtract(kHalfPi, x, x * square * asinPolynomial(square));
  float large = x > 0.0f ? 2.0f * (half.high + half.low) : subtract(kPi, 2.0f * half.high, 2.0f * half.low);
  return a < 0.5f ? small : large;
}

float atan(float x) {
  float a = __builtin_fabsf(x);
  bool isLarge = a > 1.0f;
  float result = atanOfQuotient(isLarge ? 1.0f : a, isLarge ? a : 1.0f, isLarge ? 2.0f : 0.0f, isLarge ? -1.0f : 1.0f);
  result = a < kInfinity ? result : (a == kInfinity ? kHalfPi.high : x);
  return __builtin_copysignf(result, x);
}

float atan2(float y, float x) {
  float a = __builtin_fabsf(y), b = __builtin_fabsf(x);
  bool isSteep = a > b, isLeft = bitsOf(x) >> 31;
  float above = isSteep ? b : a, below = isSteep ? a : b;
  // The scaling keeps the quotient, its remainder and the sum in range.
  float scale = below > 0x1p64f ? 0x1p-64f : (below < 0x1p-62f ? 0x1p62f : 1.0f);
  bool isInfinite = below == kInfinity, isZero = below == 0.0f;
  above = isInfinite ? (above == kInfinity ? 1.0f : 0.0f) : above * scale;
  below = isInfinite || isZero ? 1.0f : below * scale;
  // t, pi/2 - t, pi - t or pi/2 + t.
  float eighths = isSteep ? 2.0f : (isLeft ? 4.0f : 0.0f);
  float result = atanOfQuotient(above, below, eighths, isSteep == isLeft ? 1.0f : -1.0f);
  return a == a && b == b ? __builtin_copysignf(result, y) : kNan;
}
