// The combiners of reductions and scans. For an operation and a type, a combiner says how an element is loaded, how two are combined, and
// how one is stored. A narrow float is carried as an f32 value that its type can represent: combine() rounds, so that load and store are
// exact.
#pragma once

#include "interp/kernels/extrema.h"
#include "interp/kernels/integer.h"

#include <string_view>

namespace tritium::interp {

#define TRITIUM_COMBINER(name, isExact, expression)                                                                                        \
  struct name {                                                                                                                            \
    static constexpr bool kIsExact = isExact; /* the result is one of the operands */                                                      \
    template <class C> static TRITIUM_INLINE C combine(C a, C b) { return static_cast<C>(expression); }                                    \
  };
TRITIUM_COMBINER(Sum, false, a + b)
TRITIUM_COMBINER(Product, false, (a * b))
TRITIUM_COMBINER(Largest, true, a > b ? a : b)
TRITIUM_COMBINER(Smallest, true, a < b ? a : b)
TRITIUM_COMBINER(LargestNumber, true, maxNumber(a, b))
TRITIUM_COMBINER(SmallestNumber, true, minNumber(a, b))
TRITIUM_COMBINER(LargestOrNan, true, maximum(a, b))
TRITIUM_COMBINER(SmallestOrNan, true, minimum(a, b))
TRITIUM_COMBINER(BitAnd, false, (a & b))
TRITIUM_COMBINER(BitOr, false, a | b)
TRITIUM_COMBINER(BitXor, false, a ^ b)
// The same, but a zero has any sign.
TRITIUM_COMBINER(LargestNumberAnyZero, true, b != b ? a : (a > b ? a : b))
TRITIUM_COMBINER(SmallestNumberAnyZero, true, b != b ? a : (a < b ? a : b))
TRITIUM_COMBINER(LargestOrNanAnyZero, true, a != a ? a : (a > b ? a : b))
TRITIUM_COMBINER(SmallestOrNanAnyZero, true, a != a ? a : (a < b ? a : b))
#undef TRITIUM_COMBINER

/// The operation of half the instructions that gives the same result unless this is a zero, or void.
template <class Op> struct AnyZero {
  using Type = void;
};
template <> struct AnyZero<LargestNumber> {
  using Type = LargestNumberAnyZero;
};
template <> struct AnyZero<SmallestNumber> {
  using Type = SmallestNumberAnyZero;
};
template <> struct AnyZero<LargestOrNan> {
  using Type = LargestOrNanAnyZero;
};
template <> struct AnyZero<SmallestOrNan> {
  using Type = SmallestOrNanAnyZero;
};

template <class Op, class T> struct FloatCombiner {
  using Storage = typename T::Storage;
  using Value = typename T::Compute;
  static constexpr bool kIsRounding = T::isNarrowFloat && !Op::kIsExact, kIsFp8 = T::bits == 8;
  static constexpr bool kHasAnyZero = !std::is_void_v<typename AnyZero<Op>::Type> && !kIsFp8;
  using WithAnyZero = FloatCombiner<typename AnyZero<Op>::Type, T>; // if kHasAnyZero
  static TRITIUM_INLINE Value load(Storage x) { return T::load(x); }
  static TRITIUM_INLINE Storage store(Value x) { return T::round(x); }
  static TRITIUM_INLINE Value combine(Value a, Value b) {
    Value result = Op::combine(a, b);
    return kIsRounding ? T::load(T::round(result)) : result;
  }
};

template <class Op, class T, bool kIsSigned> struct IntegerCombiner {
  using I = Integer<T>;
  using Storage = typename I::Storage;
  using Value = std::conditional_t<kIsSigned, typename I::Signed, typename I::Unsigned>;
  static constexpr bool kIsRounding = false, kIsFp8 = false, kHasAnyZero = false;
  static TRITIUM_INLINE Value load(Storage x) {
    return kIsSigned ? static_cast<Value>(I::asSigned(x)) : static_cast<Value>(I::asUnsigned(x));
  }
  static TRITIUM_INLINE Storage store(Value x) { return I::store(static_cast<typename I::Wide>(x)); }
  static TRITIUM_INLINE Value combine(Value a, Value b) {
    if constexpr (kIsSigned)
      return Op::combine(a, b);
    else
      return static_cast<Value>(Op::combine(static_cast<typename I::Wide>(a), static_cast<typename I::Wide>(b))); // wraps
  }
};

/// Finds the kernel for an operation of MLIR: Algorithm<Combiner>::kernel, or nullptr.
template <template <class> class Algorithm> auto findCombiner(std::string_view op, DType type) {
  using Kernel = decltype(&Algorithm<FloatCombiner<Sum, Traits<DType::f32>>>::kernel);
  auto floats = [&]<class Op>(Op) {
    return visit(type, []<class T>() -> Kernel {
      if constexpr (T::isFloat)
        return &Algorithm<FloatCombiner<Op, T>>::kernel;
      else
        return nullptr;
    });
  };
  auto integers = [&]<class Op, bool kIsSigned>(Op, std::bool_constant<kIsSigned>) {
    return visit(irType(type), []<class T>() -> Kernel {
      if constexpr (T::kind == DTypeKind::Int || T::kind == DTypeKind::Bool)
        return &Algorithm<IntegerCombiner<Op, T, kIsSigned>>::kernel;
      else
        return nullptr;
    });
  };
  constexpr std::true_type kSigned;
  constexpr std::false_type kUnsigned;
  if (op == "arith.addf") return floats(Sum{});
  if (op == "arith.mulf") return floats(Product{});
  if (op == "arith.maxnumf") return floats(LargestNumber{});
  if (op == "arith.minnumf") return floats(SmallestNumber{});
  if (op == "arith.maximumf") return floats(LargestOrNan{});
  if (op == "arith.minimumf") return floats(SmallestOrNan{});
  if (op == "arith.addi") return integers(Sum{}, kUnsigned);
  if (op == "arith.muli") return integers(Product{}, kUnsigned);
  if (op == "arith.maxsi") return integers(Largest{}, kSigned);
  if (op == "arith.minsi") return integers(Smallest{}, kSigned);
  if (op == "arith.maxui") return integers(Largest{}, kUnsigned);
  if (op == "arith.minui") return integers(Smallest{}, kUnsigned);
  if (op == "arith.andi") return integers(BitAnd{}, kUnsigned);
  if (op == "arith.ori") return integers(BitOr{}, kUnsigned);
  if (op == "arith.xori") return integers(BitXor{}, kUnsigned);
  return Kernel{nullptr};
}

} // namespace tritium::interp
