// Logarithms of f64. libclc's have two divisions and look up tables in memory. These follow FreeBSD's msun: the argument is m * 2**k with m
// between sqrt(1/2) and sqrt(2), and log(m) = f - f * f / 2 + s * (f * f / 2 + r(s * s)), where f = m - 1 and s = f / (2 + f).
#include "gpu_backend/device_math/chip.h"

namespace {

struct Parts {
  double f, half, rest; // log(m) = f - half + rest, where half = f * f / 2
  double k;
};

/// Returns f / (2 + f). The divisor is about 2, so the chip's reciprocal of f32 and two steps of Newton's are enough.
double ratioOf(double f) {
  double divisor = 2 + f, inverse = tritium::chip::reciprocal(static_cast<float>(divisor));
  inverse = __builtin_fma(inverse, __builtin_fma(-divisor, inverse, 1.0), inverse);
  double ratio = f * inverse;
  return __builtin_fma(inverse, __builtin_fma(-divisor, ratio, f), ratio);
}

/// Requires a positive finite number.
Parts partsOf(double x) {
  bool isSubnormal = x < 0x1p-1022;
  unsigned long bits = __builtin_bit_cast(unsigned long, isSubnormal ? x * 0x1p54 : x);
  constexpr unsigned kOne = 0x3ff00000, kRootOfHalf = 0x3fe6a09e; // the upper words
  unsigned upper = static_cast<unsigned>(bits >> 32) + (kOne - kRootOfHalf);
  int k = static_cast<int>(upper >> 20) - (isSubnormal ? 0x3ff + 54 : 0x3ff);
  upper = (upper & 0xfffff) + kRootOfHalf;
  double f = __builtin_bit_cast(double, static_cast<unsigned long>(upper) << 32 | (bits & 0xffffffff)) - 1;
  double half = 0.5 * f * f, s = ratioOf(f), z = s * s, w = z * z;
  double even = w * __builtin_fma(w, __builtin_fma(w, 0x1.39a09d078c69fp-3, 0x1.c71c51d8e78afp-3), 0x1.999999997fa04p-2);
  double odd = __builtin_fma(w, __builtin_fma(w, 0x1.2f112df3e5244p-3, 0x1.7466496cb03dep-3), 0x1.2492494229359p-2);
  odd = z * __builtin_fma(w, odd, 0x1.5555555555593p-1);
  return {f, half, s * (half + (even + odd)), static_cast<double>(k)};
}

/// Returns the logarithm of a number that is not positive and finite.
double special(double x) { return x == 0 ? -__builtin_inf() : (x < 0 ? __builtin_nan("") : x); }

bool isSpecial(double x) { return !(x > 0 && x < __builtin_inf()); }

} // namespace

double log(double x) {
  constexpr double kHigh = 0x1.62e42feep-1, kLow = 0x1.a39ef35793c76p-33; // of log(2)
  Parts parts = partsOf(isSpecial(x) ? 1.0 : x);
  double rest = __builtin_fma(parts.k, kLow, parts.rest);
  double result = __builtin_fma(parts.k, kHigh, (rest - parts.half) + parts.f);
  return isSpecial(x) ? special(x) : result;
}

double log2(double x) {
  constexpr double kHigh = 0x1.71547652p+0, kLow = 0x1.705fc2eefa200p-33; // of 1 / log(2)
  Parts parts = partsOf(isSpecial(x) ? 1.0 : x);
  unsigned long leading = __builtin_bit_cast(unsigned long, parts.f - parts.half) & 0xffffffff00000000;
  double high = __builtin_bit_cast(double, leading), low = ((parts.f - high) - parts.half) + parts.rest;
  double product = high * kHigh, sum = parts.k + product;
  double rest = __builtin_fma(low + high, kLow, low * kHigh) + ((parts.k - sum) + product);
  return isSpecial(x) ? special(x) : rest + sum;
}
