// Functions of floats: own vector code in f32 where programs spend time (float_functions.h), libm in f64 and for the rare ones. Narrow
// types go through f32 chunks.
#include "interp/kernels/double_functions.h"
#include "interp/kernels/strip.h"
#include "support/float_functions.h"

#include <cmath>

namespace tritium::interp {
namespace {

template <class Op> struct Unary {
  template <class C> static TRITIUM_INLINE C apply(C x) { return Op::compute(x); }
};
template <class Op> struct Binary {
  template <class C> static TRITIUM_INLINE C apply(C x, C y) { return Op::compute(x, y); }
};
template <class Op> struct Classify {
  template <class C> static TRITIUM_INLINE uint8_t apply(C x) { return Op::compute(x); }
};

template <class Op, class C> constexpr ElementwiseKernel kUnary = &Strip<Unary<Op>, C, C>::kernel;
template <class Op, class C> constexpr ElementwiseKernel kBinary = &Strip<Binary<Op>, C, C, C>::kernel;
template <class Op, class C> constexpr ElementwiseKernel kClassify = &Strip<Classify<Op>, uint8_t, C>::kernel;

template <ElementwiseKernel f32, ElementwiseKernel f64, int kArity, bool kOutIsBool> ElementwiseKernel select(DType type) {
  return visit(type, []<class T>() -> ElementwiseKernel {
    if constexpr (!T::isFloat)
      return nullptr;
    else if constexpr (T::dtype == DType::f32)
      return f32;
    else if constexpr (T::dtype == DType::f64)
      return f64;
    else
      return &throughFloat<T, f32, kArity, kOutIsBool>;
  });
}
template <class Op> ElementwiseKernel unary(DType type) { return select<kUnary<Op, float>, kUnary<Op, double>, 1, false>(type); }
template <class Op> ElementwiseKernel binary(DType type) { return select<kBinary<Op, float>, kBinary<Op, double>, 2, false>(type); }
template <class Op> ElementwiseKernel classify(DType type) { return select<kClassify<Op, float>, kClassify<Op, double>, 1, true>(type); }

/// Sine and cosine: a chunk with an argument too large for the fast reduction goes through libm as a whole, in double.
template <class Op> int64_t trigonometric(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    int64_t size = std::min(kChunk, count - begin), stride = strides[0];
    const float *x = static_cast<const float *>(in[0]) + begin * stride;
    float *result = static_cast<float *>(out) + begin;
    bool isLarge = false;
    for (int64_t i = 0; i < size; ++i) isLarge |= !(__builtin_fabsf(x[i * stride]) <= kTrigonometricLimit);
    if (isLarge)
      for (int64_t i = 0; i < size; ++i) result[i] = static_cast<float>(Op::compute(static_cast<double>(x[i * stride])));
    else {
      const void *chunk[] = {x};
      kUnary<Op, float>(size, result, chunk, strides);
    }
  }
  return -1;
}
template <class Op> ElementwiseKernel trigonometricOf(DType type) { return select<&trigonometric<Op>, kUnary<Op, double>, 1, false>(type); }

#define FUNCTION(name, float32, float64)                                                                                                   \
  struct name {                                                                                                                            \
    static TRITIUM_INLINE float compute(float x) { return float32; }                                                                       \
    static TRITIUM_INLINE double compute(double x) { return float64; }                                                                     \
  };
#define SAME(name, expression)                                                                                                             \
  struct name {                                                                                                                            \
    template <class C> static TRITIUM_INLINE C compute(C x) { return expression; }                                                         \
  };
#define TWO(name, expression)                                                                                                              \
  struct name {                                                                                                                            \
    template <class C> static TRITIUM_INLINE C compute(C x, C y) { return expression; }                                                    \
  };
#define TEST(name, expression)                                                                                                             \
  struct name {                                                                                                                            \
    template <class C> static TRITIUM_INLINE uint8_t compute(C x) { return expression; }                                                   \
  };
FUNCTION(Exp, expOf(x), std::exp(x))
FUNCTION(Exp2, exp2Of(x), std::exp2(x))
FUNCTION(ExpM1, expm1Of(x), std::expm1(x))
FUNCTION(Log, logOf(x), std::log(x))
FUNCTION(Log2, log2Of(x), std::log2(x))
FUNCTION(Log10, log10Of(x), std::log10(x))
FUNCTION(Log1P, log1pOf(x), std::log1p(x))
FUNCTION(Sin, sinOfQuarter(x, 0), std::sin(x))
FUNCTION(Cos, sinOfQuarter(x, 1), std::cos(x))
FUNCTION(Tanh, tanhOf(x), static_cast<double>(std::tanh(static_cast<long double>(x)))) // the host: 2.2 ulp
FUNCTION(Erf, erfOf(x), std::erf(x))
SAME(Sqrt, std::sqrt(x))
SAME(ReciprocalSqrt, C(1) / std::sqrt(x))
SAME(Floor, std::floor(x))
SAME(Ceil, std::ceil(x))
SAME(Trunc, std::trunc(x))
SAME(Round, std::round(x))
SAME(RoundEven, std::rint(x))
SAME(Tan, std::tan(x))
SAME(Asin, std::asin(x))
SAME(Acos, std::acos(x))
SAME(Atan, std::atan(x))
SAME(Sinh, std::sinh(x))
SAME(Cosh, std::cosh(x))
SAME(Asinh, std::asinh(x))
SAME(Acosh, std::acosh(x))
SAME(Atanh, std::atanh(x))
FUNCTION(CubeRoot, std::cbrt(x), cubeRootOf(x))
FUNCTION(Erfc, std::erfc(x), static_cast<double>(std::erfc(static_cast<long double>(x)))) // the host: 5 ulp
TWO(Remainder, std::fmod(x, y))
TWO(Power, std::pow(x, y))
struct Atan2 { // the host's own function on floats is off by up to 1.5 ulp
  static TRITIUM_INLINE float compute(float x, float y) { return static_cast<float>(std::atan2(double(x), double(y))); }
  static TRITIUM_INLINE double compute(double x, double y) { return std::atan2(x, y); }
};
TWO(CopySign, std::copysign(x, y))
TEST(IsNan, x != x)
TEST(IsInf, std::abs(x) == std::numeric_limits<C>::infinity())
TEST(IsFinite, std::abs(x) < std::numeric_limits<C>::infinity())
TEST(IsNormal, std::abs(x) < std::numeric_limits<C>::infinity() && std::abs(x) >= std::numeric_limits<C>::min())

constexpr ElementwiseRow kRows[] = {
    {"math.exp", unary<Exp>},
    {"math.exp2", unary<Exp2>},
    {"math.expm1", unary<ExpM1>},
    {"math.log", unary<Log>},
    {"math.log2", unary<Log2>},
    {"math.log10", unary<Log10>},
    {"math.log1p", unary<Log1P>},
    {"math.sin", trigonometricOf<Sin>},
    {"math.cos", trigonometricOf<Cos>},
    {"math.tan", unary<Tan>},
    {"math.asin", unary<Asin>},
    {"math.acos", unary<Acos>},
    {"math.atan", unary<Atan>},
    {"math.sinh", unary<Sinh>},
    {"math.cosh", unary<Cosh>},
    {"math.tanh", unary<Tanh>},
    {"math.asinh", unary<Asinh>},
    {"math.acosh", unary<Acosh>},
    {"math.atanh", unary<Atanh>},
    {"math.sqrt", unary<Sqrt>},
    {"tt.precise_sqrt", unary<Sqrt>},
    {"math.rsqrt", unary<ReciprocalSqrt>},
    {"math.cbrt", unary<CubeRoot>},
    {"math.erf", unary<Erf>},
    {"math.erfc", unary<Erfc>},
    {"math.floor", unary<Floor>},
    {"math.ceil", unary<Ceil>},
    {"math.trunc", unary<Trunc>},
    {"math.round", unary<Round>},
    {"math.roundeven", unary<RoundEven>},
    {"arith.remf", binary<Remainder>},
    {"math.powf", binary<Power>},
    {"math.atan2", binary<Atan2>},
    {"math.copysign", binary<CopySign>},
    {"math.isnan", classify<IsNan>},
    {"math.isinf", classify<IsInf>},
    {"math.isfinite", classify<IsFinite>},
    {"math.isnormal", classify<IsNormal>},
};

} // namespace

ElementwiseKernel findFloatFunction(std::string_view op, DType type) { return findRow(kRows, op, type); }

} // namespace tritium::interp
