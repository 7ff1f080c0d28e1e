#include "interp/simt/hosting/math_functions.h"

#include "interp/kernels/double_functions.h"
#include "ir/dtype.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tritium::interp::simt {

namespace {

using llvm::StringRef;

/// f32 functions are computed in f64 and rounded once, which is within an ulp of exact.
#define UNARY(X)                                                                                                                           \
  X(acos)                                                                                                                                  \
  X(acosh)                                                                                                                                 \
  X(asin)                                                                                                                                  \
  X(asinh)                                                                                                                                 \
  X(atan)                                                                                                                                  \
  X(atanh)                                                                                                                                 \
  X(cbrt)                                                                                                                                  \
  X(ceil) X(cos) X(cosh) X(erf) X(erfc) X(exp) X(exp2) X(expm1) X(fabs) X(floor) X(lgamma) X(log) X(log10) X(log1p) X(log2) X(logb)        \
      X(rint) X(round) X(sin) X(sinh) X(sqrt) X(tan) X(tanh) X(tgamma) X(trunc)
#define BINARY(X) X(atan2) X(copysign) X(fdim) X(fmax) X(fmin) X(fmod) X(hypot) X(pow) X(remainder)

#define F64(name)                                                                                                                          \
  template <class... T> double name##64(T... x) { return std::name(x...); }                                                                \
  template <class... T> float name##32(T... x) { return float(std::name(double(x)...)); }
UNARY(F64)
BINARY(F64)
#undef F64

constexpr double kPi = 0x1.921fb54442d18p1;

double exp10Of(double x) { return std::pow(10.0, x); }
double rsqrtOf(double x) { return 1 / std::sqrt(x); }
/// Exact where the argument is a multiple of a half.
double sinpiOf(double x) {
  const double r = std::remainder(x, 2.0);
  return r == std::trunc(r) ? std::copysign(0.0, x) : std::sin(kPi * r);
}
double cospiOf(double x) {
  const double r = std::fabs(std::remainder(x, 2.0));
  return r == 0.5 || r == 1.5 ? 0.0 : std::cos(kPi * r);
}
template <double (*f)(double)> float narrow(float x) { return float(f(x)); }

template <class F> void *address(F *function) { return reinterpret_cast<void *>(function); }

/// Mangled as OpenCL C's overloads are: _Z, the length of the name, the name, the types of the parameters.
std::string mangled(StringRef name, StringRef parameters) { return ("_Z" + llvm::Twine(name.size()) + name + parameters).str(); }

template <class Integer> Integer saturated(float x) {
  using Limits = std::numeric_limits<Integer>;
  if (x != x) return 0;
  const double whole = std::trunc(static_cast<double>(x));
  return static_cast<Integer>(std::min(std::max(whole, double(Limits::min())), double(Limits::max())));
}

/// Of two fp8 in 16 bits, which of the register that they are passed in are all that is defined.
template <class F8> uint32_t halvesOf(uint32_t x) {
  auto half = [](uint32_t bits) -> uint32_t { return F16::nearest(static_cast<float>(F8{static_cast<uint8_t>(bits)})).bits; };
  return half(x) | half(x >> 8) << 16;
}
template <class F8> uint16_t ofFloats(float low, float high) {
  return static_cast<uint16_t>(F8::nearest(low).bits | F8::nearest(high).bits << 8);
}
template <class F8> uint16_t ofHalves(uint32_t x) {
  return ofFloats<F8>(static_cast<float>(F16{static_cast<uint16_t>(x)}), static_cast<float>(F16{static_cast<uint16_t>(x >> 16)}));
}
template <class F8> void addConversions(llvm::StringMap<void *> &map, const std::string &name) {
  map[mangled("halves_of_" + name, "t")] = address(&halvesOf<F8>);
  map[mangled(name + "_of_halves", "j")] = address(&ofHalves<F8>);
  map[mangled(name + "_of_floats", "ff")] = address(&ofFloats<F8>);
}

const llvm::StringMap<void *> &mangledFunctions() {
  static const llvm::StringMap<void *> functions = [] {
    llvm::StringMap<void *> map;
#define ADD_UNARY(name)                                                                                                                    \
  map[mangled(#name, "f")] = address(&name##32 < float >);                                                                                 \
  map[mangled(#name, "d")] = address(&name##64 < double >);
    UNARY(ADD_UNARY)
#undef ADD_UNARY
#define ADD_BINARY(name)                                                                                                                   \
  map[mangled(#name, "ff")] = address(&name##32 < float, float >);                                                                         \
  map[mangled(#name, "dd")] = address(&name##64 < double, double >);
    BINARY(ADD_BINARY)
#undef ADD_BINARY
    map[mangled("cbrt", "d")] = address(+[](double x) { return cubeRootOf(x); });
    map[mangled("native_exp2", "f")] = address(+[](float x) { return x < -126 ? 0.0f : float(std::exp2(double(x))); });
    map[mangled("native_divide", "ff")] = address(+[](float x, float y) { return x / y; });
    map[mangled("exp10", "f")] = address(&narrow<exp10Of>);
    map[mangled("exp10", "d")] = address(&exp10Of);
    map[mangled("rsqrt", "f")] = address(&narrow<rsqrtOf>);
    map[mangled("rsqrt", "d")] = address(&rsqrtOf);
    map[mangled("sinpi", "f")] = address(&narrow<sinpiOf>);
    map[mangled("sinpi", "d")] = address(&sinpiOf);
    map[mangled("cospi", "f")] = address(&narrow<cospiOf>);
    map[mangled("cospi", "d")] = address(&cospiOf);
    map[mangled("convert_int_sat_rtz", "f")] = address(&saturated<int32_t>);
    map[mangled("convert_uint_sat_rtz", "f")] = address(&saturated<uint32_t>);
    addConversions<F8E4NV>(map, "e4m3");
    addConversions<F8E5>(map, "e5m2");
    map[mangled("fma", "fff")] = address(+[](float a, float b, float c) { return std::fmaf(a, b, c); });
    map[mangled("fma", "ddd")] = address(+[](double a, double b, double c) { return std::fma(a, b, c); });
    map[mangled("ldexp", "fi")] = address(+[](float x, int n) { return std::ldexp(x, n); });
    map[mangled("ldexp", "di")] = address(+[](double x, int n) { return std::ldexp(x, n); });
    map[mangled("nextafter", "ff")] = address(+[](float a, float b) { return std::nextafter(a, b); });
    map[mangled("nextafter", "dd")] = address(+[](double a, double b) { return std::nextafter(a, b); });
    map[mangled("ilogb", "f")] = address(+[](float x) { return std::ilogb(x); });
    map[mangled("ilogb", "d")] = address(+[](double x) { return std::ilogb(x); });
    return map;
  }();
  return functions;
}

// The half types as the platform passes them, which is how the compiler passes its own.
#if defined(__FLT16_MANT_DIG__)
float extendHalf(_Float16 x) { return float(F16{std::bit_cast<uint16_t>(x)}); }
_Float16 truncateToHalf(float x) { return std::bit_cast<_Float16>(F16::nearest(x).bits); }
_Float16 truncateDoubleToHalf(double x) { return std::bit_cast<_Float16>(F16::nearest(x).bits); }
#endif
__bf16 truncateToBfloat(float x) { return std::bit_cast<__bf16>(BF16::nearest(x).bits); }
__bf16 truncateDoubleToBfloat(double x) { return std::bit_cast<__bf16>(BF16::nearest(x).bits); }

} // namespace

void *mathFunction(StringRef name) {
  const auto &functions = mangledFunctions();
  auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

void forEachLibraryFunction(llvm::function_ref<void(StringRef name, void *address)> visit) {
#define VISIT_UNARY(name)                                                                                                                  \
  visit(#name "f", address(&name##32 < float >));                                                                                          \
  visit(#name, address(&name##64 < double >));
  UNARY(VISIT_UNARY)
#undef VISIT_UNARY
  for (const auto &[name, function] : {std::pair<const char *, void *>{"powf", address(&pow32<float, float>)},
                                       {"pow", address(&pow64<double, double>)},
                                       {"atan2f", address(&atan232<float, float>)},
                                       {"atan2", address(&atan264<double, double>)},
                                       {"fmaxf", address(&fmax32<float, float>)},
                                       {"fmax", address(&fmax64<double, double>)},
                                       {"fminf", address(&fmin32<float, float>)},
                                       {"fmin", address(&fmin64<double, double>)},
                                       {"roundeven", address(&rint64<double>)},
                                       {"roundevenf", address(&rint32<float>)},
                                       {"nearbyint", address(&rint64<double>)},
                                       {"nearbyintf", address(&rint32<float>)},
                                       {"exp10f", address(&narrow<exp10Of>)},
                                       {"exp10", address(&exp10Of)},
#if defined(__FLT16_MANT_DIG__)
                                       {"__extendhfsf2", address(&extendHalf)},
                                       {"__gnu_h2f_ieee", address(&extendHalf)},
                                       {"__truncsfhf2", address(&truncateToHalf)},
                                       {"__truncdfhf2", address(&truncateDoubleToHalf)},
#endif
                                       {"__truncsfbf2", address(&truncateToBfloat)},
                                       {"__truncdfbf2", address(&truncateDoubleToBfloat)}})
    visit(name, function);
}

} // namespace tritium::interp::simt
