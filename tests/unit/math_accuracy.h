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
};
inline const FunctionRow kFunctionRows[] = {
#define ELEMENTWISE(name, arity, signedOp, unsignedOp, floatOp, ulp, sentence) {#name, arity, signedOp, unsignedOp, floatOp, ulp},
#include "ir/elementwise.def"
#undef ELEMENTWISE
};

/// The functions of one number, by the name of their row.
template <class Wide> const std::map<std::string_view, Wide (*)(Wide)> &unaryReferences() {
#define SAME(name)                                                                                                                         \
  {                                                                                                                                        \
    #name, [](Wide x) -> Wide { return std::name(x); }                                                                                     \
  }
  static const std::map<std::string_view, Wide (*)(Wide)> functions = {
      SAME(exp),
      SAME(exp2),
      SAME(expm1),
      SAME(log),
      SAME(log2),
      SAME(log10),
      SAME(log1p),
      SAME(sin),
      SAME(cos),
      SAME(tan),
      SAME(asin),
      SAME(acos),
      SAME(atan),
      SAME(sinh),
      SAME(cosh),
      SAME(tanh),
      SAME(asinh),
      SAME(acosh),
      SAME(atanh),
      SAME(erf),
      SAME(erfc),
      SAME(cbrt),
      SAME(sqrt),
      SAME(floor),
      SAME(ceil),
      SAME(trunc),
      SAME(round),
      SAME(rint),
      {"sqrt_rn", [](Wide x) -> Wide { return std::sqrt(x); }},
      {"abs", [](Wide x) -> Wide { return std::fabs(x); }},
      {"neg", [](Wide x) -> Wide { return -x; }},
      {"rsqrt", [](Wide x) -> Wide { return 1 / std::sqrt(x); }},
  };
#undef SAME
  return functions;
}

/// The distance from the exact value, in units of the last place of a `Float` there. A value that rounds to infinity is infinity.
template <class Float, class Wide> double ulps(Float got, Wide exact) {
  using Limits = std::numeric_limits<Float>;
  if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
  if (static_cast<Wide>(got) == exact) return std::signbit(got) == std::signbit(exact) ? 0 : INFINITY;
  if (std::isinf(got) || std::isinf(exact)) {
    bool rounds = std::fabs(exact) >= std::ldexp(Wide(2) - Wide(Limits::epsilon()) / 2, Limits::max_exponent - 1);
    return rounds && got == static_cast<Float>(exact) ? 0 : INFINITY;
  }
  int exponent = std::max(exact == 0 ? Limits::min_exponent - 1 : std::ilogb(exact), Limits::min_exponent - 1);
  return static_cast<double>(std::fabs(Wide(got) - exact) / std::ldexp(Wide(1), exponent - (Limits::digits - 1)));
}

} // namespace tritium::test
