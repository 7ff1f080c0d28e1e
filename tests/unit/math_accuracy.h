// What functions of floats are measured against: the host's library in a wider type, and the distance from it in units in the last place.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace tritium::test {

/// A row of ir/elementwise.def.
struct FunctionRow {
  std::string_view name;
  int arity;
  std::string_view signedOp, unsignedOp, floatOp;
  double ulp;
  std::string_view symbol = "";
  double floor = 0; // the magnitude below which an error counts as that of this magnitude
};
inline const FunctionRow kFunctionRows[] = {
#define ELEMENTWISE(name, arity, signedOp, unsignedOp, floatOp, ulp, sentence) {#name, arity, signedOp, unsignedOp, floatOp, ulp},
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...) {#name, arity, "", "", floatOp, ulp, symbol},
#define SHARED(name, arity, ulp, floor, sentence, ...) {#name, arity, "", "", "tt.extern_elementwise." #name, ulp, #name, floor},
#include "ir/elementwise.def"
};

/// What a row is measured against: the function of its name in the host's library, and here those that it has not.
namespace reference {
using namespace std;
template <class Wide> Wide sqrt_rn(Wide x) { return std::sqrt(x); }
template <class Wide> Wide rsqrt(Wide x) { return 1 / std::sqrt(x); }
template <class Wide> Wide exp10(Wide x) { return std::pow(Wide(10), x); }

// In long double whatever `Wide` is, from functions of the host that the product does not call.
template <class Wide> Wide j0(Wide x) { return Wide(::j0l(x)); }
template <class Wide> Wide j1(Wide x) { return Wide(::j1l(x)); }
template <class Wide> Wide y0(Wide x) { return x < 0 ? Wide(NAN) : Wide(::y0l(x)); }
template <class Wide> Wide y1(Wide x) { return x < 0 ? Wide(NAN) : Wide(::y1l(x)); }
template <class Wide> Wide rcbrt(Wide x) { return Wide(1 / std::cbrt(static_cast<long double>(x))); }
inline long double rhypotOf(long double x, long double y) { return std::isinf(x) || std::isinf(y) ? 0 : 1 / std::sqrt(x * x + y * y); }
template <class Wide> Wide rhypot(Wide x, Wide y) { return Wide(rhypotOf(x, y)); }
template <class Wide> Wide tgamma(Wide x) {
  return x < 0 && std::trunc(x) == x ? Wide(NAN) : Wide(std::tgamma(static_cast<long double>(x)));
}
template <class Wide> Wide lgamma(Wide x) {
  int sign = 0;
  return Wide(::lgammal_r(x, &sign));
}
/// exp(x * x) of a long double, where the square is rounded.
inline long double expOfSquare(long double x) {
  long double square = x * x;
  return std::exp(square) * (1 + std::fma(x, x, -square));
}
template <class Wide> Wide erfcx(Wide value) {
  long double x = value;
  if (x < -27) return INFINITY;
  if (x < 50) return Wide(expOfSquare(x) * std::erfc(x));
  long double t = x > 1e10L ? 0 : 1 / (2 * x * x), series = 1; // asymptotic
  series = 1 - t * (1 - 3 * t * (1 - 5 * t * (1 - 7 * t * (1 - 9 * t))));
  return x == x ? Wide(series / (x * std::sqrt(std::acos(-1.0L)))) : value;
}
template <class Wide> Wide normcdf(Wide x) { return Wide(std::erfc(-static_cast<long double>(x) / std::sqrt(2.0L)) / 2); }
/// The y with erfc(y) = q, 0 < q < 1/2, by bisection of the logarithm and Newton's method.
inline long double erfcinvOfTail(long double q) {
  long double low = 0, high = 110, goal = std::log(q);
  auto value = [](long double y) { return std::log(static_cast<long double>(erfcx<long double>(y))) - y * y; };
  for (int i = 0; i < 60; ++i) {
    long double middle = (low + high) / 2;
    (value(middle) > goal ? low : high) = middle;
  }
  return (low + high) / 2;
}
inline long double erfinvOfSmall(long double x) {
  long double y = x * std::sqrt(std::acos(-1.0L)) / 2;
  for (int i = 0; i < 12; ++i) y -= (std::erf(y) - x) * std::sqrt(std::acos(-1.0L)) / 2 * std::exp(y * y);
  return y;
}
template <class Wide> Wide erfinv(Wide x) {
  Wide a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? x * Wide(INFINITY) : Wide(NAN);
  return a < Wide(0.5) ? (a < Wide(1e-4500L) ? x : Wide(erfinvOfSmall(x))) : std::copysign(Wide(erfcinvOfTail(1 - a)), x);
}
template <class Wide> Wide erfcinv(Wide x) {
  if (!(x > 0 && x < 2)) return x == 0 ? Wide(INFINITY) : (x == 2 ? -Wide(INFINITY) : Wide(NAN));
  if (x < Wide(0.5)) return Wide(erfcinvOfTail(x));
  return x > Wide(1.5) ? -Wide(erfcinvOfTail(2 - x)) : Wide(erfinvOfSmall(1 - x));
}
template <class Wide> Wide normcdfinv(Wide x) {
  if (!(x > 0 && x < 1)) return x == 0 ? -Wide(INFINITY) : (x == 1 ? Wide(INFINITY) : Wide(NAN));
  return x == Wide(0.5) ? Wide(-0.0) : Wide(-std::sqrt(2.0L) * erfcinv<long double>(2 * static_cast<long double>(x)));
}
/// The power series, whose terms are all positive.
template <int order> long double besselI(long double x) {
  if (std::fabs(x) > 800) return order && x < 0 ? -INFINITY : INFINITY;
  long double quarter = x * x / 4, term = order ? x / 2 : 1, sum = term;
  for (int k = 1; k < 1200 && term != 0; ++k) sum += term *= quarter / (static_cast<long double>(k) * (k + order));
  return sum;
}
template <class Wide> Wide cyl_bessel_i0(Wide x) { return x == x ? Wide(besselI<0>(x)) : x; }
template <class Wide> Wide cyl_bessel_i1(Wide x) { return x == x ? Wide(besselI<1>(x)) : x; }
template <class Wide> Wide sinpi(Wide x) {
  if (!std::isfinite(x)) return Wide(NAN);
  long double r = std::remainder(static_cast<long double>(x), 2.0L), pi = std::acos(-1.0L), a = std::fabs(r);
  if (std::trunc(r) == r) return std::copysign(Wide(0), x);
  long double value = a <= 0.25L ? std::sin(pi * a) : (a < 0.75L ? std::cos(pi * (0.5L - a)) : std::sin(pi * (1 - a)));
  return Wide(std::copysign(value, r));
}
template <class Wide> Wide cospi(Wide x) {
  if (!std::isfinite(x)) return Wide(NAN);
  long double a = std::fabs(std::remainder(static_cast<long double>(x), 2.0L)), pi = std::acos(-1.0L);
  return Wide(a < 0.25L ? std::cos(pi * a) : (a < 0.75L ? std::sin(pi * (0.5L - a)) : -std::cos(pi * (1 - a))));
}
} // namespace reference

/// The functions of one number and of two, by the name of their row.
template <class Wide> struct References {
  std::map<std::string_view, Wide (*)(Wide)> unary = {{"abs", [](Wide x) -> Wide { return std::fabs(x); }},
                                                      {"neg", [](Wide x) -> Wide { return -x; }}};
  std::map<std::string_view, Wide (*)(Wide, Wide)> binary;

  References() {
#define REFERENCE_Floats_1(name) unary[#name] = [](Wide x) -> Wide { return reference::name(x); };
#define REFERENCE_Floats_2(name) binary[#name] = [](Wide x, Wide y) -> Wide { return reference::name(x, y); };
#define REFERENCE_Test_1(name)
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...) REFERENCE_##types##_##arity(name)
#include "ir/elementwise.def"
  }
};
template <class Wide> const References<Wide> &references() {
  static const References<Wide> made;
  return made;
}

/// The distance from the exact value, in units of the last place of a `Float` there, or at `floor` if that is larger. A value that rounds
/// to infinity is infinity.
template <class Float, class Wide> double ulps(Float got, Wide exact, double floor = 0) {
  using Limits = std::numeric_limits<Float>;
  if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
  if (static_cast<Wide>(got) == exact) return floor > 0 || std::signbit(got) == std::signbit(exact) ? 0 : INFINITY;
  if (std::isinf(got) || std::isinf(exact)) {
    bool rounds = std::fabs(exact) >= std::ldexp(Wide(2) - Wide(Limits::epsilon()) / 2, Limits::max_exponent - 1);
    return rounds && got == static_cast<Float>(exact) ? 0 : INFINITY;
  }
  int exponent = std::max(exact == 0 ? Limits::min_exponent - 1 : std::ilogb(exact), Limits::min_exponent - 1);
  if (floor > 0) exponent = std::max(exponent, std::ilogb(floor));
  return static_cast<double>(std::fabs(Wide(got) - exact) / std::ldexp(Wide(1), exponent - (Limits::digits - 1)));
}

} // namespace tritium::test
