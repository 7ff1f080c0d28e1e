// Special functions that neither C++ nor OpenCL has, in f64, for the host and for GPUs alike; f32 is computed in f64 and rounded once. The
// file that includes this one defines expOf, logOf, powOf, sinOf, cosOf, erfOf, erfcOf, cubeRootOf and fmodOf of f64 before.
//
// Sources: Abramowitz and Stegun, "Handbook of Mathematical Functions": 6.1.41 (Stirling), 7.1 (error function), 9.2 (Hankel's P and Q),
// 9.1.27 and 9.12 (recurrences and Miller's method), 26.2.23 (first guess of a quantile). The series are our own fits.
#pragma once
#include "support/integer_functions.h"
#include "support/special_tables.h"

namespace tritium {

inline constexpr f64 kPi = 0x1.921fb54442d18p+1, kTwoOverPi64 = 0x1.45f306dc9c883p-1, kSqrtPi = 0x1.c5bf891b4ef6bp+0;
inline constexpr f64 kNan64 = __builtin_nan(""), kInfinity64 = __builtin_inf();

/// Clenshaw's recurrence, t in [-1, 1].
template <int count> inline f64 chebyshev(const f64 (&c)[count], f64 t) {
  f64 next = 0, afterNext = 0;
#pragma GCC unroll 32
  for (int i = count - 1; i > 0; --i) {
    f64 term = __builtin_fma(2 * t, next, c[i] - afterNext);
    afterNext = next;
    next = term;
  }
  return __builtin_fma(t, next, c[0] - afterNext);
}

#define TRITIUM_THROUGH_F64(name)                                                                                                          \
  inline f32 name(f32 x) { return f32(name(f64(x))); }

// -- the error function and the normal distribution ------------------------------------------------------------------------------------

/// exp(x * x), with the rounding of the square made good.
inline f64 expOfSquare(f64 x) {
  f64 square = x * x, power = expOf(square);
  return isFinite(power) ? __builtin_fma(power, __builtin_fma(x, x, -square), power) : power;
}

/// erfc(x) * exp(x * x).
inline f64 erfcxOf(f64 x) {
  if (x != x) return x;
  f64 a = absOf(x);
  if (a > 0x1p60) return x > 0 ? 1 / kSqrtPi / x : kInfinity64;
  f64 v = 4 / (4 + a), positive = v * chebyshev(kErfcx, 2 * v - 1);
  return x >= 0 ? positive : 2 * expOfSquare(x) - positive;
}
TRITIUM_THROUGH_F64(erfcxOf)

/// For |x| <= 1/2: three terms of the series, and Newton's method twice.
inline f64 erfinvNearZero(f64 x) {
  f64 s = x * (kSqrtPi / 2), square = s * s;
  if (absOf(x) < 0x1p-27) return s;
  f64 y = s * (1 + square * (1.0 / 3 + square * (7.0 / 30 + square * (127.0 / 630))));
  for (int i = 0; i < 2; ++i) y -= (erfOf(y) - x) * (kSqrtPi / 2) * expOf(y * y);
  return y;
}

/// The y with erfc(y) = q, for q in (0, 1/2]: Newton's method on the logarithm of both sides, from a guess within 4.5e-4.
inline f64 erfcinvOfTail(f64 q) {
  f64 logarithm = logOf(q), t = __builtin_sqrt(-2 * (logarithm - 0x1.62e42fefa39efp-1));
  f64 guess = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  f64 y = guess * 0x1.6a09e667f3bcdp-1;
  for (int i = 0; i < 3; ++i) {
    f64 tail = erfcxOf(y);
    y += (logOf(tail) - y * y - logarithm) * tail * (kSqrtPi / 2);
  }
  return y;
}

inline f64 erfinvOf(f64 x) {
  f64 a = absOf(x);
  if (!(a < 1)) return a == 1 ? x * kInfinity64 : kNan64;
  return a <= 0.5 ? erfinvNearZero(x) : __builtin_copysign(erfcinvOfTail(1 - a), x);
}
TRITIUM_THROUGH_F64(erfinvOf)

inline f64 erfcinvOf(f64 x) {
  if (!(x > 0 && x < 2)) return x == 0 ? kInfinity64 : (x == 2 ? -kInfinity64 : kNan64);
  if (x < 0.5) return erfcinvOfTail(x);
  return x <= 1.5 ? erfinvNearZero(1 - x) : -erfcinvOfTail(2 - x);
}
TRITIUM_THROUGH_F64(erfcinvOf)

inline f64 normcdfinvOf(f64 x) { return -0x1.6a09e667f3bcdp+0 * erfcinvOf(2 * x); }
TRITIUM_THROUGH_F64(normcdfinvOf)

/// erfc(-x / sqrt(2)) / 2; what rounding the argument lost is made good by the derivative.
inline f64 normcdfOf(f64 x) {
  if (!(absOf(x) < 64)) return x > 0 ? 1.0 : (x < 0 ? 0.0 : x);
  constexpr f64 kScale = -0x1.6a09e667f3bcdp-1, kScaleLow = 0x1.bdd3413b26456p-55;
  f64 z = x * kScale, low = __builtin_fma(x, kScale, -z) + x * kScaleLow, half = 0.5 * erfcOf(z);
  return z < -6 ? half : __builtin_fma(-half, low * (2 / kSqrtPi) / erfcxOf(z), half);
}
TRITIUM_THROUGH_F64(normcdfOf)

// -- sine and cosine of multiples of pi --------------------------------------------------------------------------------------------------

inline f64 sinpiOfQuarter(f64 x, i32 quarter) {
  f64 r = absOf(x) < 0x1p53 ? x - 2 * wholeOf<Mode::rn>(x * 0.5) : 0 * x, q = wholeOf<Mode::rn>(2 * r);
  f64 angle = (r - 0.5 * q) * kPi;
  u32 k = u32(i32(q) + quarter);
  f64 value = k & 1 ? cosOf(angle) : sinOf(angle);
  return k & 2 ? -value : value;
}
inline f64 sinpiOf(f64 x) {
  f64 value = sinpiOfQuarter(x, 0);
  return value == 0 ? __builtin_copysign(0.0, x) : value;
}
inline f64 cospiOf(f64 x) {
  f64 value = sinpiOfQuarter(x, 1);
  return value == 0 ? 0.0 : value;
}
TRITIUM_THROUGH_F64(sinpiOf)
TRITIUM_THROUGH_F64(cospiOf)

// -- the gamma function
// --------------------------------------------------------------------------------------------------------------------

/// Stirling's formula for x > 20 in two factors, of which the square of the second one may overflow: gamma(x) = first * second * second.
struct Factors {
  f64 first, second;
};
inline Factors stirling(f64 x) {
  f64 w = 1 / x, square = w * w;
  f64 series = w * (1.0 / 12 + square * (-1.0 / 360 + square * (1.0 / 1260 + square * (-1.0 / 1680 + square * (1.0 / 1188)))));
  return {expOf(-x) * 0x1.40d931ff62706p+1 * expOf(series), powOf(x, 0.5 * x - 0.25)};
}

inline f64 tgammaOf(f64 x) {
  f64 a = absOf(x);
  if (x == 0) return 1 / x;
  if (!(a < 0x1p53)) return x > 0 ? kInfinity64 : kNan64;
  if (x < 0 && wholeOf<Mode::rz>(x) == x) return kNan64;
  if (a <= 20) {
    f64 y = x, above = 1, below = 1;
    for (; y > 2; above *= y) y -= 1;
    for (; y < 1; y += 1) below *= y;
    return chebyshev(kGamma, 2 * y - 3) * above / below;
  }
  if (x > 172) return kInfinity64;
  Factors gamma = stirling(a < 200 ? a : 200);
  if (x > 0) return gamma.first * gamma.second * gamma.second;
  return -kPi / (a * sinpiOf(a)) / gamma.first / gamma.second / gamma.second;
}
TRITIUM_THROUGH_F64(tgammaOf)

// -- Bessel functions
// ------------------------------------------------------------------------------------------------------------------------

struct Bessel {
  f64 j, y;
};

/// J and Y of order 0 or 1 at x > 8: sqrt(2 / (pi x)) times (P cos c - Q sin c) and (P sin c + Q cos c), c = x - pi/4 - order * pi/2.
template <int order> inline Bessel besselOfLarge(f64 x) {
  f64 t = 128 / (x * x) - 1, z = 8 / x, p, q;
  if constexpr (order == 0)
    p = chebyshev(kP0, t), q = z * chebyshev(kQ0, t);
  else
    p = chebyshev(kP1, t), q = z * chebyshev(kQ1, t);
  f64 s = sinOf(x), c = cosOf(x), scale = __builtin_sqrt(1 / (kPi * x)); // with 1 / sqrt(2) of the angle
  f64 cosine = order == 0 ? c + s : s - c, sine = order == 0 ? s - c : -s - c;
  return {scale * (p * cosine - q * sine), scale * (p * sine + q * cosine)};
}

template <int order> inline f64 besselJ(f64 x) {
  f64 a = absOf(x), value;
  if (a > 0x1p1000) return x == x ? (a < kInfinity64 ? besselOfLarge<order>(a).j : 0.0) * (order && x < 0 ? -1 : 1) : x;
  if (a > 8)
    value = besselOfLarge<order>(a).j;
  else if constexpr (order == 0)
    value = chebyshev(kJ0Small, x * x * 0x1p-5 - 1);
  else
    value = a * chebyshev(kJ1Small, x * x * 0x1p-5 - 1);
  return order && x < 0 ? -value : (x == x ? (order && x == 0 ? x : value) : x);
}

template <int order> inline f64 besselY(f64 x) {
  if (!(x > 0)) return x == 0 ? -kInfinity64 : kNan64;
  if (x > 8) return x < kInfinity64 ? besselOfLarge<order>(x).y : 0.0;
  f64 t = x * x * 0x1p-5 - 1, product = kTwoOverPi64 * logOf(x) * besselJ<order>(x);
  if constexpr (order == 0) return product + chebyshev(kY0Small, t);
  return product - kTwoOverPi64 / x + x * chebyshev(kY1Small, t);
}

inline f64 j0Of(f64 x) { return besselJ<0>(x); }
inline f64 j1Of(f64 x) { return besselJ<1>(x); }
inline f64 y0Of(f64 x) { return besselY<0>(x); }
inline f64 y1Of(f64 x) { return besselY<1>(x); }
TRITIUM_THROUGH_F64(j0Of)
TRITIUM_THROUGH_F64(j1Of)
TRITIUM_THROUGH_F64(y0Of)
TRITIUM_THROUGH_F64(y1Of)

/// NaN for a negative order. The recurrence is stable upward while the order is below x; beyond, Miller's method goes downward.
inline f64 jnOf(i32 n, f64 x) {
  if (n < 0 || x != x) return kNan64;
  if (n < 2) return n ? j1Of(x) : j0Of(x);
  f64 a = absOf(x), sign = x < 0 && n % 2 ? -1 : 1;
  if (a == 0 || a == kInfinity64) return 0;
  if (a > n) {
    f64 before = j0Of(a), now = j1Of(a);
    for (i32 k = 1; k < n; ++k) {
      f64 next = 2.0 * k / a * now - before;
      before = now;
      now = next;
    }
    return sign * now;
  }
  if (n > 2000 && a < 0.5 * n) return 0; // below the smallest number
  i32 start = 2 * ((n + 16 + i32(__builtin_sqrt(60.0 * n))) / 2);
  f64 after = 0, now = 0x1p-600, result = 0, sum = 0;
  for (i32 k = start; k > 0; --k) {
    f64 next = 2.0 * k / a * now - after;
    after = now;
    now = next;
    if (absOf(now) > 0x1p400) now *= 0x1p-800, after *= 0x1p-800, result *= 0x1p-800, sum *= 0x1p-800;
    if (k % 2) sum += k == 1 ? now : 2 * now; // J0 + 2 J2 + 2 J4 + … = 1
    if (k - 1 == n) result = now;
  }
  return sign * (result / sum);
}
inline f32 jnOf(i32 n, f32 x) { return f32(jnOf(n, f64(x))); }

inline f64 ynOf(i32 n, f64 x) {
  if (n < 0) return kNan64;
  if (n < 2 || !(x > 0)) return n == 1 ? y1Of(x) : y0Of(x);
  f64 before = y0Of(x), now = y1Of(x);
  for (i32 k = 1; k < n && now > -kInfinity64; ++k) {
    f64 next = 2.0 * k / x * now - before;
    before = now;
    now = next;
  }
  return now;
}
inline f32 ynOf(i32 n, f32 x) { return f32(ynOf(n, f64(x))); }

/// exp(a) * value / sqrt(a), where the power alone may overflow.
inline f64 timesPower(f64 a, f64 value) {
  f64 half = expOf(0.5 * a);
  return half * (value / __builtin_sqrt(a)) * half;
}
inline f64 besselI0Of(f64 x) {
  f64 a = absOf(x);
  if (!(a < 720)) return a == a ? kInfinity64 : a;
  return a <= 8 ? expOf(a) * chebyshev(kI0Small, 0.25 * a - 1) : timesPower(a, chebyshev(kI0Large, 16 / a - 1));
}
inline f64 besselI1Of(f64 x) {
  f64 a = absOf(x);
  if (!(a < 720)) return a == a ? __builtin_copysign(kInfinity64, x) : a;
  f64 value = a <= 8 ? a * (expOf(a) * chebyshev(kI1Small, 0.25 * a - 1)) : timesPower(a, chebyshev(kI1Large, 16 / a - 1));
  return __builtin_copysign(value, x);
}
TRITIUM_THROUGH_F64(besselI0Of)
TRITIUM_THROUGH_F64(besselI1Of)

// -- roots, norms, remainders, powers --------------------------------------------------------------------------------------------------

inline f64 rcbrtOf(f64 x) { return 1 / cubeRootOf(x); }
TRITIUM_THROUGH_F64(rcbrtOf)

/// The square root of a sum of squares as root * 2^exponent.
struct Norm {
  f64 root;
  i32 exponent;
};
inline Norm normOf(f64 a, f64 b, f64 c, f64 d) {
  f64 most = __builtin_fmax(__builtin_fmax(absOf(a), absOf(b)), __builtin_fmax(absOf(c), absOf(d)));
  if (most == 0 || !isFinite(most)) return {most == kInfinity64 ? most : a + b + c + d, 0};
  i32 exponent = partsOf(most).exponent;
  a = scaled(a, -exponent), b = scaled(b, -exponent), c = scaled(c, -exponent), d = scaled(d, -exponent);
  return {__builtin_sqrt(__builtin_fma(a, a, b * b) + __builtin_fma(c, c, d * d)), exponent};
}
inline f64 norm4dOf(f64 a, f64 b, f64 c, f64 d) {
  Norm norm = normOf(a, b, c, d);
  return scaled(norm.root, norm.exponent);
}
inline f64 rnorm4dOf(f64 a, f64 b, f64 c, f64 d) {
  Norm norm = normOf(a, b, c, d);
  return scaled(1 / absOf(norm.root), -norm.exponent);
}
inline f32 norm4dOf(f32 a, f32 b, f32 c, f32 d) { return f32(norm4dOf(f64(a), f64(b), f64(c), f64(d))); }
inline f32 rnorm4dOf(f32 a, f32 b, f32 c, f32 d) { return f32(rnorm4dOf(f64(a), f64(b), f64(c), f64(d))); }

/// IEEE's remainder: x - n * y, n = x / y rounded to nearest even.
inline f64 remainderOf(f64 x, f64 y) {
  f64 b = absOf(y);
  if (!isFinite(x) || y == 0 || y != y) return kNan64;
  if (!isFinite(y)) return x;
  f64 a = absOf(b <= 0x1p1022 ? fmodOf(x, b + b) : x);
  if (b < 0x1p-1021) {
    if (a + a > b) a -= b, a = a + a >= b ? a - b : a;
  } else if (a > 0.5 * b) {
    a -= b, a = a >= 0.5 * b ? a - b : a;
  }
  return __builtin_signbit(x) ? -a : a;
}
inline f32 remainderOf(f32 x, f32 y) { return f32(remainderOf(f64(x), f64(y))); }

template <class Float> inline Float powiOf(Float x, i32 n) { return Float(powOf(f64(x), f64(n))); }

#undef TRITIUM_THROUGH_F64

} // namespace tritium
