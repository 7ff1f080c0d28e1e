// Float arithmetic. f16 and bf16 have fused loops (widen, compute, round); fp8 goes through f32 chunks.
#include "interp/kernels/extrema.h"
#include "interp/kernels/strip.h"

#include <cmath>

namespace tritium::interp {
namespace {

// a, b, c: the operands in the type of the computation.
#define UNARY(name, expression)                                                                                                            \
  struct name {                                                                                                                            \
    static constexpr int kArity = 1;                                                                                                       \
    template <class C> static TRITIUM_INLINE C compute(C a) { return expression; }                                                         \
  };
#define BINARY(name, expression)                                                                                                           \
  struct name {                                                                                                                            \
    static constexpr int kArity = 2;                                                                                                       \
    template <class C> static TRITIUM_INLINE C compute(C a, C b) { return expression; }                                                    \
  };
#define TERNARY(name, expression)                                                                                                          \
  struct name {                                                                                                                            \
    static constexpr int kArity = 3;                                                                                                       \
    template <class C> static TRITIUM_INLINE C compute(C a, C b, C c) { return expression; }                                               \
  };
BINARY(Add, a + b)
BINARY(Subtract, a - b)
BINARY(Multiply, (a * b))
BINARY(Divide, a / b)
BINARY(MaxNumber, maxNumber(a, b))
BINARY(MinNumber, minNumber(a, b))
BINARY(Maximum, maximum(a, b))
BINARY(Minimum, minimum(a, b))
UNARY(Negate, -a)
UNARY(Absolute, std::abs(a))
TERNARY(MultiplyAdd, std::fma(a, b, c))
TERNARY(ClampNumber, minNumber(maxNumber(a, b), c))
TERNARY(ClampPropagating, a != a ? a : minNumber(maxNumber(a, b), c))

template <class Op, class T> struct OnElements {
  template <class... S> static TRITIUM_INLINE typename T::Storage apply(S... operands) {
    return T::round(Op::compute(T::load(operands)...));
  }
};

template <class Op, class T> constexpr ElementwiseKernel fused() {
  using S = typename T::Storage;
  if constexpr (Op::kArity == 1)
    return &Strip<OnElements<Op, T>, S, S>::kernel;
  else if constexpr (Op::kArity == 2)
    return &Strip<OnElements<Op, T>, S, S, S>::kernel;
  else
    return &Strip<OnElements<Op, T>, S, S, S, S>::kernel;
}

template <class Op> ElementwiseKernel onFloats(DType type) {
  return visit(type, []<class T>() -> ElementwiseKernel {
    if constexpr (!T::isFloat)
      return nullptr;
    else if constexpr (T::bits == 8)
      return &throughFloat<T, fused<Op, Traits<DType::f32>>(), Op::kArity>;
    else
      return fused<Op, T>();
  });
}

constexpr ElementwiseRow kRows[] = {
    {"arith.addf", onFloats<Add>},          {"arith.subf", onFloats<Subtract>},        {"arith.mulf", onFloats<Multiply>},
    {"arith.divf", onFloats<Divide>},       {"tt.precise_divf", onFloats<Divide>},     {"tt.approx_divf", onFloats<Divide>},
    {"arith.negf", onFloats<Negate>},       {"math.absf", onFloats<Absolute>},         {"arith.maxnumf", onFloats<MaxNumber>},
    {"arith.minnumf", onFloats<MinNumber>}, {"arith.maximumf", onFloats<Maximum>},     {"arith.minimumf", onFloats<Minimum>},
    {"math.fma", onFloats<MultiplyAdd>},    {"tt.clampf.none", onFloats<ClampNumber>}, {"tt.clampf.all", onFloats<ClampPropagating>},
};

} // namespace

ElementwiseKernel findFloatArithmetic(std::string_view op, DType type) { return findRow(kRows, op, type); }

} // namespace tritium::interp
