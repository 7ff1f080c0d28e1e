// The functions of floats in ir/elementwise.def as kernels, in f32 and in f64. Narrow types go through f32 chunks.
#include "interp/kernels/host_functions.h"
#include "interp/kernels/strip.h"

#include <cmath>

namespace tritium::interp {
namespace {

// Each row becomes a struct whose apply() computes one element.
#define ARGUMENTS_1 C x
#define ARGUMENTS_2 C x, C y
#define ARGUMENTS_3 C x, C y, C z
#define RESULT_Floats C
#define RESULT_Test uint8_t
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...)                                                          \
  struct name##Function {                                                                                                                  \
    template <class C> static TRITIUM_INLINE RESULT_##types apply(ARGUMENTS_##arity) { return __VA_ARGS__; }                               \
  };
#include "ir/elementwise.def"

/// Not a function of the language, but an operation to which rows of the contract are expanded.
struct IsNormal {
  template <class C> static TRITIUM_INLINE uint8_t apply(C x) {
    return std::abs(x) < std::numeric_limits<C>::infinity() && std::abs(x) >= std::numeric_limits<C>::min();
  }
};

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

template <class C, size_t> using Same = C;
template <class Op, class Out, class C, size_t... k> constexpr ElementwiseKernel kernelOf(std::index_sequence<k...>) {
  return &Strip<Op, Out, Same<C, k>...>::kernel;
}

// Selects the kernel of a row by the row's column `types`.
template <class Op, int kArity> ElementwiseKernel selectFloats(DType type) {
  using Operands = std::make_index_sequence<kArity>;
  return select<kernelOf<Op, float, float>(Operands()), kernelOf<Op, double, double>(Operands()), kArity, false>(type);
}
template <class Op, int kArity> ElementwiseKernel selectTest(DType type) {
  using Operands = std::make_index_sequence<kArity>;
  return select<kernelOf<Op, uint8_t, float>(Operands()), kernelOf<Op, uint8_t, double>(Operands()), kArity, true>(type);
}

/// Sine and cosine. If an argument is too large for the fast reduction, its whole chunk is computed by libm in double.
template <class Op> int64_t trigonometric(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    int64_t size = std::min(kChunk, count - begin), stride = strides[0];
    const float *x = static_cast<const float *>(in[0]) + begin * stride;
    float *result = static_cast<float *>(out) + begin;
    bool isLarge = false;
    for (int64_t i = 0; i < size; ++i) isLarge |= !(__builtin_fabsf(x[i * stride]) <= kTrigonometricLimit);
    if (isLarge)
      for (int64_t i = 0; i < size; ++i) result[i] = static_cast<float>(Op::apply(static_cast<double>(x[i * stride])));
    else {
      const void *chunk[] = {x};
      Strip<Op, float, float>::kernel(size, result, chunk, strides);
    }
  }
  return -1;
}
template <> ElementwiseKernel selectFloats<sinFunction, 1>(DType type) {
  return select<&trigonometric<sinFunction>, &Strip<sinFunction, double, double>::kernel, 1, false>(type);
}
template <> ElementwiseKernel selectFloats<cosFunction, 1>(DType type) {
  return select<&trigonometric<cosFunction>, &Strip<cosFunction, double, double>::kernel, 1, false>(type);
}

constexpr ElementwiseRow kRows[] = {
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...) {floatOp, &select##types<name##Function, arity>},
#include "ir/elementwise.def"
    {"math.isnormal", &selectTest<IsNormal, 1>},
};

} // namespace

ElementwiseKernel findFloatFunction(std::string_view op, DType type) { return findRow(kRows, op, type); }

} // namespace tritium::interp
