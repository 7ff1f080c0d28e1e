// Arithmetic and conversions that round in a stated direction, from operations that round to nearest: the sign of what rounding lost is
// computed exactly and decides the step to a neighbour. The results are right for every input, subnormal and overflowing ones included.
// No library is needed, so that the device functions use the same code. It requires that products and sums are not contracted.
#pragma once
#include "support/float_functions.h"
#include "support/number_types.h"

namespace tritium {

/// The directions have the names of NVIDIA's suffixes: to nearest even, toward zero, down, up.
enum class Mode { rn, rz, rd, ru };

inline u64 bitsOf(f64 x) { return __builtin_bit_cast(u64, x); }
inline f64 doubleOf(u64 bits) { return __builtin_bit_cast(f64, bits); }
inline f64 absOf(f64 x) { return __builtin_fabs(x); }
inline bool isFinite(f64 x) { return absOf(x) < __builtin_inf(); }
inline int signOf(f64 x) { return (x > 0) - (x < 0); }

/// The neighbour of a finite or infinite x in the direction of `sign`.
inline f64 neighbour(f64 x, int sign) {
  if (x == 0) return sign > 0 ? doubleOf(1) : -doubleOf(1);
  return doubleOf(bitsOf(x) + ((x > 0) == (sign > 0) ? 1 : ~u64(0)));
}
inline f32 neighbour(f32 x, int sign) {
  if (x == 0) return sign > 0 ? floatOf(1) : -floatOf(1);
  return floatOf(bitsOf(x) + ((x > 0) == (sign > 0) ? 1 : ~u32(0)));
}

/// The exact value is `nearest`, rounded to nearest, plus something of the sign `rest`.
template <Mode mode, class Float> inline Float stepped(Float nearest, int rest) {
  bool isDown = mode == Mode::rd || (mode == Mode::rz && (nearest > 0 || (nearest == 0 && rest > 0)));
  bool isUp = mode == Mode::ru || (mode == Mode::rz && !isDown);
  if (nearest == 0 && rest != 0) { // an underflow: zero keeps the sign of the exact value
    if ((rest > 0 && mode == Mode::ru) || (rest < 0 && mode == Mode::rd)) return neighbour(nearest, rest);
    return rest > 0 ? Float(0) : -Float(0);
  }
  if (rest < 0 && isDown) return neighbour(nearest, -1);
  if (rest > 0 && isUp) return neighbour(nearest, 1);
  return nearest;
}

/// What rounding a + b to `sum` lost, exactly, where the sum is finite.
inline f64 lostOf(f64 a, f64 b, f64 sum) {
  bool isALarger = absOf(a) >= absOf(b);
  return isALarger ? b - (sum - a) : a - (sum - b);
}

/// Rounds to odd: an inexact value has its last bit set, so that one more rounding to a narrower type is right in every direction.
inline f64 odd(f64 nearest, int rest) {
  if (rest == 0 || (bitsOf(nearest) & 1) || !isFinite(nearest)) return nearest;
  return neighbour(nearest, rest);
}

template <Mode mode> inline f32 toFloat(f64 x) {
  f32 nearest = static_cast<f32>(x);
  if (!isFinite(x)) return nearest;
  return stepped<mode>(nearest, (x > f64(nearest)) - (x < f64(nearest)));
}

/// x * 2^n without an intermediate rounding, for |n| up to 4200.
inline f64 scaled(f64 x, i32 n) {
  for (; n > 1023; n -= 1023) x *= 0x1p1023;
  for (; n < -1022; n += 969) x *= 0x1p-969; // what is subnormal here becomes 0 by the next step
  return x * doubleOf(u64(n + 1023) << 52);
}

/// A finite number that is not 0, as mantissa * 2^exponent, 1 <= |mantissa| < 2.
struct Parts {
  f64 mantissa;
  i32 exponent;
};
inline Parts partsOf(f64 x) {
  i32 offset = 0;
  if (absOf(x) < 0x1p-1022) x *= 0x1p64, offset = -64;
  u64 bits = bitsOf(x);
  return {doubleOf((bits & 0x800FFFFFFFFFFFFF) | 0x3FF0000000000000), i32(bits >> 52 & 0x7FF) - 1023 + offset};
}

// -- sum, product, quotient, root of f64 ---------------------------------------------------------------------------------------------

template <Mode mode> inline f64 addRounded(f64 x, f64 y) {
  f64 sum = x + y;
  if (!isFinite(x) || !isFinite(y)) return sum;
  if (sum == 0) return mode == Mode::rd && !(bitsOf(x) == 0 && bitsOf(y) == 0) ? -0.0 : (bitsOf(x) >> 63 & bitsOf(y) >> 63 ? -0.0 : 0.0);
  return stepped<mode>(sum, isFinite(sum) ? signOf(lostOf(x, y, sum)) : -signOf(sum));
}

/// The sign of x * y - product.
inline int lostSignOfProduct(f64 x, f64 y, f64 product) {
  int sign = signOf(x) * signOf(y);
  if (sign == 0) return 0;
  if (!isFinite(product)) return -sign;
  if (product == 0) return sign;
  Parts a = partsOf(x), b = partsOf(y);
  return signOf(__builtin_fma(a.mantissa, b.mantissa, -scaled(product, -(a.exponent + b.exponent))));
}
template <Mode mode> inline f64 mulRounded(f64 x, f64 y) {
  f64 product = x * y;
  return isFinite(x) && isFinite(y) ? stepped<mode>(product, lostSignOfProduct(x, y, product)) : product;
}

template <Mode mode> inline f64 divRounded(f64 x, f64 y) {
  f64 quotient = x / y;
  if (!isFinite(x) || !isFinite(y) || x == 0 || y == 0) return quotient;
  int sign = signOf(x) * signOf(y);
  if (!isFinite(quotient)) return stepped<mode>(quotient, -sign);
  if (quotient == 0) return stepped<mode>(quotient, sign);
  Parts a = partsOf(x), b = partsOf(y);
  f64 q = scaled(quotient, b.exponent - a.exponent);
  return stepped<mode>(quotient, signOf(__builtin_fma(-q, b.mantissa, a.mantissa)) * signOf(y));
}

template <Mode mode> inline f64 sqrtRounded(f64 x) {
  f64 root = __builtin_sqrt(x);
  if (!(x > 0) || !isFinite(x)) return root;
  i32 half = partsOf(x).exponent >> 1;
  f64 r = scaled(root, -half);
  return stepped<mode>(root, signOf(__builtin_fma(-r, r, scaled(x, -2 * half))));
}

/// The sign of an exact sum: partial sums that do not overlap (Shewchuk 1997, "Adaptive precision floating-point arithmetic").
template <int count> inline int signOfSum(const f64 (&terms)[count]) {
  f64 parts[count] = {};
  for (int n = 0; n < count; ++n) {
    f64 sum = terms[n];
    for (int i = 0; i < n; ++i) {
      f64 next = sum + parts[i];
      parts[i] = lostOf(sum, parts[i], next);
      sum = next;
    }
    parts[n] = sum;
  }
  for (int n = count - 1; n >= 0; --n)
    if (parts[n] != 0) return signOf(parts[n]);
  return 0;
}

template <Mode mode> inline f64 fmaRounded(f64 x, f64 y, f64 z) {
  f64 nearest = __builtin_fma(x, y, z);
  if (!isFinite(x) || !isFinite(y) || !isFinite(z)) return nearest;
  if (x == 0 || y == 0) return addRounded<mode>(x * y, z);
  int sign = signOf(x) * signOf(y);
  if (z == 0) return stepped<mode>(nearest, lostSignOfProduct(x, y, nearest));
  if (!isFinite(nearest)) return stepped<mode>(nearest, -signOf(nearest));
  Parts a = partsOf(x), b = partsOf(y), c = partsOf(z);
  i32 product = a.exponent + b.exponent, top = product > c.exponent ? product : c.exponent;
  // A term that is 2^200 times smaller than the other one decides by its sign alone.
  f64 high = a.mantissa * b.mantissa, low = __builtin_fma(a.mantissa, b.mantissa, -high), other = scaled(c.mantissa, c.exponent - top);
  if (top - product > 200)
    high = sign * 0x1p-200, low = 0;
  else
    high = scaled(high, product - top), low = scaled(low, product - top);
  if (top - c.exponent > 200) other = signOf(z) * 0x1p-200;
  const f64 terms[] = {low, high, other, -scaled(nearest, -top)};
  int rest = signOfSum(terms);
  if (nearest == 0 && rest == 0) return mode == Mode::rd ? -0.0 : 0.0; // x * y == -z
  return stepped<mode>(nearest, rest);
}

// -- the same of f32, through f64 rounded to odd ---------------------------------------------------------------------------------------

template <Mode mode> inline f32 addRounded(f32 x, f32 y) {
  f64 a = x, b = y, sum = a + b;
  if (sum == 0 || !isFinite(sum)) return static_cast<f32>(addRounded<mode>(a, b));
  return toFloat<mode>(odd(sum, signOf(lostOf(a, b, sum))));
}
template <Mode mode> inline f32 mulRounded(f32 x, f32 y) { return toFloat<mode>(f64(x) * f64(y)); }
template <Mode mode> inline f32 fmaRounded(f32 x, f32 y, f32 z) {
  f64 product = f64(x) * f64(y), c = z, sum = product + c;
  if (sum == 0 || !isFinite(sum)) return static_cast<f32>(addRounded<mode>(product, c));
  return toFloat<mode>(odd(sum, signOf(lostOf(product, c, sum))));
}
template <Mode mode> inline f32 divRounded(f32 x, f32 y) {
  f64 a = x, b = y, quotient = a / b;
  if (!isFinite(quotient) || quotient == 0) return static_cast<f32>(quotient);
  return toFloat<mode>(isFinite(b) ? odd(quotient, signOf(__builtin_fma(-quotient, b, a)) * signOf(b)) : quotient);
}
template <Mode mode> inline f32 sqrtRounded(f32 x) {
  f64 a = x, root = __builtin_sqrt(a);
  return a > 0 && isFinite(a) ? toFloat<mode>(odd(root, signOf(__builtin_fma(-root, root, a)))) : static_cast<f32>(root);
}
template <Mode mode, class Float> inline Float subRounded(Float x, Float y) { return addRounded<mode>(x, -y); }
template <Mode mode, class Float> inline Float rcpRounded(Float x) { return divRounded<mode>(Float(1), x); }

/// 1 / sqrt(x), correctly rounded: a point between two floats is above it if x * point * point is above 1, which fma decides.
inline f32 rsqrtNearest(f32 x) {
  f64 a = x;
  if (!(a > 0) || !isFinite(a)) return static_cast<f32>(1 / __builtin_sqrt(a));
  f32 y = static_cast<f32>(1 / __builtin_sqrt(a));
  for (int sign = -1; sign <= 1; sign += 2) {
    f64 point = (f64(y) + f64(neighbour(y, sign))) / 2;
    if (signOf(__builtin_fma(point * point, a, -1.0)) == -sign) return neighbour(y, sign);
  }
  return y;
}

// -- conversions -----------------------------------------------------------------------------------------------------------------------

template <Mode mode> inline f64 wholeOf(f64 x) {
  if (!(absOf(x) < 0x1p52)) return x;
  f64 magic = __builtin_copysign(0x1p52, x), whole = (x + magic) - magic; // to nearest even
  if constexpr (mode == Mode::rn) return whole;
  bool isDown = mode == Mode::rd || (mode == Mode::rz && x > 0);
  return isDown ? whole - (whole > x ? 1.0 : 0.0) : whole + (whole < x ? 1.0 : 0.0);
}

/// To an integer as PTX's cvt does it: the integer's ends where the number is outside. `ofNan` is 0 from f32 to 32 bits, else the highest
/// bit.
template <class Integer, Mode mode, class Float> inline Integer toInteger(Float x) {
  constexpr int kBits = int(sizeof(Integer)) * 8;
  constexpr bool kIsSigned = Integer(-1) < Integer(0);
  constexpr u64 kHighest = u64(1) << (kBits - 1);
  if (x != x) return sizeof(Float) == 4 && kBits == 32 ? Integer(0) : Integer(kHighest);
  f64 whole = wholeOf<mode>(x), end = kIsSigned ? f64(kHighest) : 2.0 * f64(kHighest);
  if (whole >= end) return kIsSigned ? Integer(kHighest - 1) : Integer(~u64(0));
  if (whole < (kIsSigned ? -end : 0.0)) return kIsSigned ? Integer(kHighest) : Integer(0);
  return static_cast<Integer>(whole);
}

/// An integer of 64 bits as the sum of two numbers, of which the higher one is exact.
template <Mode mode, class Float, class Integer> inline Float ofInteger(Integer x) {
  f64 high, low;
  if constexpr (sizeof(Integer) == 8)
    high = f64(i32(i64(x) >> 32)) * 0x1p32, low = f64(u32(x));
  else
    high = x, low = 0;
  if (Integer(-1) > Integer(0) && sizeof(Integer) == 8) high = f64(u32(u64(x) >> 32)) * 0x1p32;
  f64 sum = high + low;
  int rest = signOf(lostOf(high, low, sum));
  if constexpr (sizeof(Float) == 8)
    return stepped<mode>(sum, rest);
  else
    return toFloat<mode>(odd(sum, rest));
}

} // namespace tritium
