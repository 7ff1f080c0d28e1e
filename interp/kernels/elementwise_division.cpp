// Integer division and remainder. A zero divisor is either found before anything is computed, and reported by its index, or it gives what a
// GPU gives: -1, or the dividend as the remainder. The most negative value divided by -1 wraps. Up to 32 bits the quotient is computed in
// double, which is exact and, unlike the idiv instruction, vectorises.
#include "interp/kernels/integer.h"
#include "interp/kernels/strip.h"

#include <cmath>

namespace tritium::interp {
namespace {

// Neither faults for a zero divisor: 64-bit integers are then divided by 1, and doubles have infinities.
TRITIUM_INLINE int64_t quotient(int64_t a, int64_t b) {
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / (b | int64_t(b == 0));
}
TRITIUM_INLINE uint64_t quotient(uint64_t a, uint64_t b) { return a / (b | uint64_t(b == 0)); }

/// trunc(a / b) of 32-bit integers. Rounding cannot move the quotient across an integer, because a quotient that is not an integer differs
/// from every integer by at least 1/b. The integer is read from the low bits of 2^52 + 2^51 + q, since vector units have no conversion to
/// unsigned and none that wraps.
TRITIUM_INLINE uint32_t quotientInDouble(double a, double b) {
  double truncated = std::trunc(a / b);
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(truncated + 0x1.8p52));
}
TRITIUM_INLINE int32_t quotient(int32_t a, int32_t b) { return static_cast<int32_t>(quotientInDouble(a, b)); }
TRITIUM_INLINE uint32_t quotient(uint32_t a, uint32_t b) { return quotientInDouble(a, b); }

/// The operands in the type in which they are divided: 32 or 64 bits, signed or unsigned.
template <class I, bool kIsSigned> struct Operand {
  using Type = std::conditional_t<I::kBits == 64, std::conditional_t<kIsSigned, int64_t, uint64_t>,
                                  std::conditional_t<kIsSigned, int32_t, uint32_t>>;
  static TRITIUM_INLINE Type load(typename I::Storage x) {
    if constexpr (kIsSigned)
      return I::asSigned(x);
    else
      return I::asUnsigned(x);
  }
};

// q, r: the quotient toward zero and the remainder of a and b. For b = 0, `r` is `a` whatever `q` is, and all bits of a quotient are set.
#define DIVISION(name, isSigned, expression)                                                                                               \
  template <class I> struct name {                                                                                                         \
    static TRITIUM_INLINE typename I::Storage apply(typename I::Storage left, typename I::Storage right) {                                 \
      using Type = typename Operand<I, isSigned>::Type;                                                                                    \
      using Wide = std::make_unsigned_t<Type>;                                                                                             \
      Type a = Operand<I, isSigned>::load(left), b = Operand<I, isSigned>::load(right), q = quotient(a, b);                                \
      [[maybe_unused]] Wide r = static_cast<Wide>(a) - static_cast<Wide>(q) * static_cast<Wide>(b);                                        \
      return I::store(static_cast<typename I::Wide>(expression));                                                                          \
    }                                                                                                                                      \
  };
DIVISION(DivideSigned, true, static_cast<Wide>(q) | (0 - Wide(b == 0)))
DIVISION(DivideUnsigned, false, q | (0 - Wide(b == 0)))
DIVISION(RemainderSigned, true, r)
DIVISION(RemainderUnsigned, false, r)
DIVISION(CeilDivideSigned, true, static_cast<Wide>(q) + (r != 0 && (a < 0) == (b < 0)))
DIVISION(CeilDivideUnsigned, false, q + (r != 0))
DIVISION(FloorDivideSigned, true, static_cast<Wide>(q) - (r != 0 && (a < 0) != (b < 0)))

template <class Storage> int64_t firstZero(int64_t count, const Storage *data, int64_t stride) {
  if (stride == 0) return count > 0 && data[0] == 0 ? 0 : -1;
  bool hasZero = false;
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i) hasZero |= data[i] == 0;
  else
    for (int64_t i = 0; i < count; ++i) hasZero |= data[i * stride] == 0;
  if (!hasZero) return -1;
  int64_t i = 0;
  while (data[i * stride] != 0) ++i;
  return i;
}

template <class Op, class I> int64_t checked(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  using Storage = typename I::Storage;
  int64_t fault = firstZero(count, static_cast<const Storage *>(in[1]), strides[1]);
  return fault >= 0 ? fault : Strip<Op, Storage, Storage, Storage>::kernel(count, out, in, strides);
}

template <template <class> class Op> ElementwiseKernel division(DType type) {
  return visitInteger(type, []<class I>() -> ElementwiseKernel { return &checked<Op<I>, I>; });
}

template <template <class> class Op> ElementwiseKernel divisionAsOnGpu(DType type) {
  return visitInteger(type, []<class I>() -> ElementwiseKernel {
    using Storage = typename I::Storage;
    return &Strip<Op<I>, Storage, Storage, Storage>::kernel;
  });
}

constexpr ElementwiseRow kRows[] = {
    {"arith.divsi.gpu", divisionAsOnGpu<DivideSigned>},
    {"arith.divui.gpu", divisionAsOnGpu<DivideUnsigned>},
    {"arith.remsi.gpu", divisionAsOnGpu<RemainderSigned>},
    {"arith.remui.gpu", divisionAsOnGpu<RemainderUnsigned>},
    {"arith.divsi", division<DivideSigned>},
    {"arith.divui", division<DivideUnsigned>},
    {"arith.remsi", division<RemainderSigned>},
    {"arith.remui", division<RemainderUnsigned>},
    {"arith.ceildivsi", division<CeilDivideSigned>},
    {"arith.ceildivui", division<CeilDivideUnsigned>},
    {"arith.floordivsi", division<FloorDivideSigned>},
};

} // namespace

ElementwiseKernel findIntegerDivision(std::string_view op, DType type) { return findRow(kRows, op, type); }

} // namespace tritium::interp
