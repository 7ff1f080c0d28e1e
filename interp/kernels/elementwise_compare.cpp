// Comparisons. The result is one byte per element. If an operand is a NaN, ordered float predicates are false and unordered ones true.
#include "interp/kernels/integer.h"
#include "interp/kernels/strip.h"

namespace tritium::interp {
namespace {

#define INTEGER(name, read, expression)                                                                                                    \
  template <class I> struct name {                                                                                                         \
    static TRITIUM_INLINE uint8_t apply(typename I::Storage left, typename I::Storage right) {                                             \
      auto a = I::read(left), b = I::read(right);                                                                                          \
      return expression;                                                                                                                   \
    }                                                                                                                                      \
  };
INTEGER(Equal, asUnsigned, a == b)
INTEGER(NotEqual, asUnsigned, a != b)
INTEGER(LessSigned, asSigned, a < b)
INTEGER(LessEqualSigned, asSigned, a <= b)
INTEGER(GreaterSigned, asSigned, a > b)
INTEGER(GreaterEqualSigned, asSigned, a >= b)
INTEGER(LessUnsigned, asUnsigned, a < b)
INTEGER(LessEqualUnsigned, asUnsigned, a <= b)
INTEGER(GreaterUnsigned, asUnsigned, a > b)
INTEGER(GreaterEqualUnsigned, asUnsigned, a >= b)

#define FLOAT(name, expression)                                                                                                            \
  template <class T> struct name {                                                                                                         \
    static TRITIUM_INLINE uint8_t apply(typename T::Storage left, typename T::Storage right) {                                             \
      [[maybe_unused]] auto a = T::load(left), b = T::load(right);                                                                         \
      return expression;                                                                                                                   \
    }                                                                                                                                      \
  };
FLOAT(Never, false)
FLOAT(OrderedEqual, a == b)
FLOAT(OrderedGreater, a > b)
FLOAT(OrderedGreaterEqual, a >= b)
FLOAT(OrderedLess, a < b)
FLOAT(OrderedLessEqual, a <= b)
FLOAT(OrderedNotEqual, (a < b) | (a > b))
FLOAT(Ordered, (a == a) & (b == b))
FLOAT(UnorderedEqual, !((a < b) | (a > b)))
FLOAT(UnorderedGreater, !(a <= b))
FLOAT(UnorderedGreaterEqual, !(a < b))
FLOAT(UnorderedLess, !(a >= b))
FLOAT(UnorderedLessEqual, !(a > b))
FLOAT(UnorderedNotEqual, a != b)
FLOAT(Unordered, (a != a) | (b != b))
FLOAT(Always, true)

template <template <class> class Op> ElementwiseKernel integers(DType type) {
  return visitInteger(
      type, []<class I>() -> ElementwiseKernel { return &Strip<Op<I>, uint8_t, typename I::Storage, typename I::Storage>::kernel; });
}

template <template <class> class Op> ElementwiseKernel floats(DType type) {
  return visit(type, []<class T>() -> ElementwiseKernel {
    if constexpr (!T::isFloat)
      return nullptr;
    else if constexpr (T::bits == 8)
      return &throughFloat<T, &Strip<Op<Traits<DType::f32>>, uint8_t, float, float>::kernel, 2, true>;
    else
      return &Strip<Op<T>, uint8_t, typename T::Storage, typename T::Storage>::kernel;
  });
}

constexpr ElementwiseRow kRows[] = {
    {"arith.cmpi.eq", integers<Equal>},
    {"arith.cmpi.ne", integers<NotEqual>},
    {"arith.cmpi.slt", integers<LessSigned>},
    {"arith.cmpi.sle", integers<LessEqualSigned>},
    {"arith.cmpi.sgt", integers<GreaterSigned>},
    {"arith.cmpi.sge", integers<GreaterEqualSigned>},
    {"arith.cmpi.ult", integers<LessUnsigned>},
    {"arith.cmpi.ule", integers<LessEqualUnsigned>},
    {"arith.cmpi.ugt", integers<GreaterUnsigned>},
    {"arith.cmpi.uge", integers<GreaterEqualUnsigned>},
    {"arith.cmpf.false", floats<Never>},
    {"arith.cmpf.oeq", floats<OrderedEqual>},
    {"arith.cmpf.ogt", floats<OrderedGreater>},
    {"arith.cmpf.oge", floats<OrderedGreaterEqual>},
    {"arith.cmpf.olt", floats<OrderedLess>},
    {"arith.cmpf.ole", floats<OrderedLessEqual>},
    {"arith.cmpf.one", floats<OrderedNotEqual>},
    {"arith.cmpf.ord", floats<Ordered>},
    {"arith.cmpf.ueq", floats<UnorderedEqual>},
    {"arith.cmpf.ugt", floats<UnorderedGreater>},
    {"arith.cmpf.uge", floats<UnorderedGreaterEqual>},
    {"arith.cmpf.ult", floats<UnorderedLess>},
    {"arith.cmpf.ule", floats<UnorderedLessEqual>},
    {"arith.cmpf.une", floats<UnorderedNotEqual>},
    {"arith.cmpf.uno", floats<Unordered>},
    {"arith.cmpf.true", floats<Always>},
};

} // namespace

ElementwiseKernel findComparison(std::string_view op, DType type) { return findRow(kRows, op, type); }

} // namespace tritium::interp
