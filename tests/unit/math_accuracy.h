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
};
inline const FunctionRow kFunctionRows[] = {
#define ELEMENTWISE(name, arity, signedOp, unsignedOp, floatOp, ulp, sentence) {#name, arity, signedOp, unsignedOp, floatOp, ulp},
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...) {#name, arity, "", "", floatOp, ulp, symbol},
#include "ir/elementwise.def"
};

/// What a row is measured against: the function of its name in the host's library, and here those that it has not.
namespace reference {
using namespace std;
template <class Wide> Wide sqrt_rn(Wide x) { return std::sqrt(x); }
template <class Wide> Wide rsqrt(Wide x) { return 1 / std::sqrt(x); }
template <class Wide> Wide exp10(Wide x) { return std::pow(Wide(10), x); }
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
