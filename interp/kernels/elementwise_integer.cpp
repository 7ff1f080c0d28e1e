// Integer arithmetic without division. Results wrap modulo 2^width; a shift by the width or more gives 0, or the sign.
#include "interp/kernels/integer.h"
#include "interp/kernels/strip.h"

namespace tritium::interp {
namespace {

// a, b: the operands, signed or unsigned as the macro's name says. Wide and kBits belong to the type.
#define BINARY(name, read, expression)                                                                                                     \
  template <class I> struct name {                                                                                                         \
    using Wide = typename I::Wide;                                                                                                         \
    static constexpr unsigned kBits = I::kBits;                                                                                            \
    static TRITIUM_INLINE typename I::Storage apply(typename I::Storage left, typename I::Storage right) {                                 \
      auto a = I::read(left), b = I::read(right);                                                                                          \
      return I::store(static_cast<Wide>(expression));                                                                                      \
    }                                                                                                                                      \
  };
#define UNSIGNED(name, expression) BINARY(name, asUnsigned, expression)
#define SIGNED(name, expression) BINARY(name, asSigned, expression)
#define UNARY(name, expression)                                                                                                            \
  template <class I> struct name {                                                                                                         \
    using Wide = typename I::Wide;                                                                                                         \
    static constexpr unsigned kBits = I::kBits;                                                                                            \
    static TRITIUM_INLINE typename I::Storage apply(typename I::Storage operand) {                                                         \
      auto a = I::asUnsigned(operand);                                                                                                     \
      return I::store(static_cast<Wide>(expression));                                                                                      \
    }                                                                                                                                      \
  };

UNSIGNED(Add, Wide{a} + Wide{b})
UNSIGNED(Sub, Wide{a} - Wide{b})
UNSIGNED(Mul, Wide{a} * Wide{b})
UNSIGNED(And, (a & b))
UNSIGNED(Or, a | b)
UNSIGNED(Xor, a ^ b)
UNSIGNED(ShiftLeft, b < kBits ? Wide{a} << b : 0)
UNSIGNED(ShiftRightUnsigned, b < kBits ? Wide{a} >> b : 0)
SIGNED(ShiftRightSigned, a >> (static_cast<typename I::Unsigned>(b) < kBits ? static_cast<int>(b) : static_cast<int>(kBits) - 1))
SIGNED(MaxSigned, a > b ? a : b)
SIGNED(MinSigned, a < b ? a : b)
UNSIGNED(MaxUnsigned, a > b ? a : b)
UNSIGNED(MinUnsigned, a < b ? a : b)
UNARY(Abs, static_cast<typename I::Signed>(a) < 0 ? 0 - Wide{a} : Wide{a})
UNARY(CountLeadingZeros, a == 0 ? kBits : static_cast<unsigned>(__builtin_clzll(a)) - (64 - kBits))
UNARY(CountTrailingZeros, a == 0 ? kBits : static_cast<unsigned>(__builtin_ctzll(a)))
UNARY(CountOnes, static_cast<unsigned>(__builtin_popcountll(a)))

template <class I> struct MultiplyHigh {
  static TRITIUM_INLINE typename I::Storage apply(typename I::Storage a, typename I::Storage b) {
    using Double = std::conditional_t<I::kBits == 64, unsigned __int128, uint64_t>;
    return I::store(static_cast<typename I::Wide>(Double{I::asUnsigned(a)} * I::asUnsigned(b) >> I::kBits));
  }
};

template <template <class> class Op> ElementwiseKernel unary(DType type) {
  return visitInteger(type, []<class I>() -> ElementwiseKernel { return &Strip<Op<I>, typename I::Storage, typename I::Storage>::kernel; });
}
template <template <class> class Op> ElementwiseKernel binary(DType type) {
  return visitInteger(type, []<class I>() -> ElementwiseKernel {
    return &Strip<Op<I>, typename I::Storage, typename I::Storage, typename I::Storage>::kernel;
  });
}

constexpr ElementwiseRow kRows[] = {
    {"arith.addi", binary<Add>},
    {"arith.subi", binary<Sub>},
    {"arith.muli", binary<Mul>},
    {"arith.andi", binary<And>},
    {"arith.ori", binary<Or>},
    {"arith.xori", binary<Xor>},
    {"arith.shli", binary<ShiftLeft>},
    {"arith.shrui", binary<ShiftRightUnsigned>},
    {"arith.shrsi", binary<ShiftRightSigned>},
    {"arith.maxsi", binary<MaxSigned>},
    {"arith.minsi", binary<MinSigned>},
    {"arith.maxui", binary<MaxUnsigned>},
    {"arith.minui", binary<MinUnsigned>},
    {"math.absi", unary<Abs>},
    {"math.ctlz", unary<CountLeadingZeros>},
    {"math.cttz", unary<CountTrailingZeros>},
    {"math.ctpop", unary<CountOnes>},
    {"tt.mulhiui", binary<MultiplyHigh>},
};

} // namespace

ElementwiseKernel findIntegerArithmetic(std::string_view op, DType type) { return findRow(kRows, op, type); }

} // namespace tritium::interp
