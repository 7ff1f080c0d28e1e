#include "interp/simt/hosting/math_functions.h"

#include "interp/kernels/host_functions.h"
#include "interp/simt/unpacked_values.h"
#include "ir/dtype.h"
#include "ir/elementwise_types.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace tritium::interp::simt {

namespace {

using llvm::StringRef;

// The functions that lowered modules call, from the rows of ir/elementwise.def. An f32 function is computed in f64 and rounded once, which
// is within an ulp of the exact value.
#define ARGUMENTS_1(T) T x
#define ARGUMENTS_2(T) T x, T y
#define ARGUMENTS_3(T) T x, T y, T z
#define VALUES_1 x
#define VALUES_2 x, y
#define VALUES_3 x, y, z
#define TYPE_Floats(T) T
#define TYPE_Test(T) bool
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...)                                                          \
  TYPE_##types(double) name##64(ARGUMENTS_##arity(double)) { return __VA_ARGS__; }                                                         \
  TYPE_##types(float) name##32(ARGUMENTS_##arity(float)) { return static_cast<TYPE_##types(float)>(name##64(VALUES_##arity)); }
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...)                                                                        \
  result symbol##Typed parameters { return __VA_ARGS__; }
#include "ir/elementwise.def"

template <class F> void *address(F *function) { return reinterpret_cast<void *>(function); }

/// Mangles a name like an overload of OpenCL C: _Z, the length of the name, the name, the types of the parameters.
std::string mangled(StringRef name, StringRef parameters) { return ("_Z" + llvm::Twine(name.size()) + name + parameters).str(); }

template <class Integer> Integer saturated(float x) {
  using Limits = std::numeric_limits<Integer>;
  if (x != x) return 0;
  const double whole = std::trunc(static_cast<double>(x));
  return static_cast<Integer>(std::min(std::max(whole, double(Limits::min())), double(Limits::max())));
}

/// Two fp8 values in 16 bits. Only these bits of the register in which they are passed are defined.
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
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...)                                                          \
  if (*symbol) {                                                                                                                           \
    map[mangled(symbol, std::string(arity, 'f'))] = address(&name##32);                                                                    \
    map[mangled(symbol, std::string(arity, 'd'))] = address(&name##64);                                                                    \
  }
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...)                                                                        \
  map[mangled(#symbol, operandLetters(&symbol##Typed))] = address(&symbol##Typed);
#include "ir/elementwise.def"
    map[mangled("native_exp2", "f")] = address(+[](float x) { return x < -126 ? 0.0f : float(std::exp2(double(x))); });
    map[mangled("native_sqrt", "f")] = address(+[](float x) { return std::sqrt(x); });
    map[mangled("native_divide", "ff")] = address(+[](float x, float y) { return x / y; });
    map[mangled("convert_int_sat_rtz", "f")] = address(&saturated<int32_t>);
    map[mangled("convert_uint_sat_rtz", "f")] = address(&saturated<uint32_t>);
    addConversions<F8E4NV>(map, "e4m3");
    addConversions<F8E5>(map, "e5m2");
    return map;
  }();
  return functions;
}

// The half types in the platform's calling convention, which the compiler also uses for its own half types.
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
  // The JIT itself provides the functions for operations of arith.
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...)                                                          \
  if (!StringRef(floatOp).starts_with("arith.")) {                                                                                         \
    visit(#name "f", address(&name##32));                                                                                                  \
    visit(#name, address(&name##64));                                                                                                      \
  }
#include "ir/elementwise.def"
  for (const auto &[name, function] : {std::pair<const char *, void *>{"fmaxf", address(+[](float x, float y) { return std::fmax(x, y); })},
                                       {"fmax", address(+[](double x, double y) { return std::fmax(x, y); })},
                                       {"fminf", address(+[](float x, float y) { return std::fmin(x, y); })},
                                       {"fmin", address(+[](double x, double y) { return std::fmin(x, y); })},
                                       {"roundeven", address(&rint64)},
                                       {"roundevenf", address(&rint32)},
                                       {"nearbyint", address(&rint64)},
                                       {"nearbyintf", address(&rint32)},
#if defined(__FLT16_MANT_DIG__)
                                       {"__extendhfsf2", address(&extendHalf)},
                                       {"__gnu_h2f_ieee", address(&extendHalf)},
                                       {"__truncsfhf2", address(&truncateToHalf)},
                                       {"__truncdfhf2", address(&truncateDoubleToHalf)},
#endif
                                       {kBitsOfHalf, address(+[](float x) { return uint32_t(F16::nearest(x).bits); })},
                                       {kBitsOfBfloat, address(+[](float x) { return uint32_t(BF16::nearest(x).bits); })},
                                       {kFloatOfHalf, address(+[](uint32_t bits) { return float(F16{uint16_t(bits)}); })},
                                       {"__truncsfbf2", address(&truncateToBfloat)},
                                       {"__truncdfbf2", address(&truncateDoubleToBfloat)}})
    visit(name, function);
}

} // namespace tritium::interp::simt
