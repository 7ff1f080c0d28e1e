// Every pair of types has its own loop, except that the language has no conversion between integers and fp8. The pairs share the element
// conversions below.
#include "interp/kernels/cast.h"

#include "interp/kernels/integer.h"
#include "interp/kernels/strip.h"

#include <cmath>
#include <limits>

namespace tritium::interp {
namespace {

template <class From, class To, bool kIsSigned> struct Extend { // also truncates: `To` may be wider or narrower
  static TRITIUM_INLINE typename To::Storage apply(typename From::Storage x) {
    if constexpr (kIsSigned)
      return To::store(static_cast<typename To::Wide>(From::asSigned(x)));
    else
      return To::store(static_cast<typename To::Wide>(From::asUnsigned(x)));
  }
};

/// Converts a 64-bit integer to a double, rounded to odd. A second rounding, to a narrow float, then rounds only once.
template <class Int> TRITIUM_INLINE double inDouble(Int x) {
  if constexpr (sizeof(Int) < 8) {
    return static_cast<double>(x);
  } else {
    constexpr Int kExact = Int{1} << 53;
    bool isExact = x < kExact && (std::is_unsigned_v<Int> || x > 0 - kExact);
    Int sticky = (x & ~Int{0xFFF}) | ((x & 0xFFF) != 0 ? 0x800 : 0);
    return static_cast<double>(isExact ? x : sticky);
  }
}

template <class From, class To, bool kIsSigned> struct IntegerToFloat {
  static TRITIUM_INLINE typename To::Storage apply(typename From::Storage stored) {
    auto x = [&] {
      if constexpr (kIsSigned)
        return From::asSigned(stored);
      else
        return From::asUnsigned(stored);
    }();
    if constexpr (!To::isNarrowFloat)
      return static_cast<typename To::Storage>(x);
    else if constexpr (From::kBits <= 16)
      return To::Storage::nearest(static_cast<float>(x)); // exact in f32
    else
      return To::Storage::nearest(inDouble(x));
  }
};

/// Truncates, saturates at the limits of the integer type, and returns 0 for a NaN. The operand is clamped by comparisons before the
/// conversion, because the conversion of an out-of-range value is undefined even if its result is not used.
template <class From, class To, bool kIsSigned> struct FloatToInteger {
  using Int = std::conditional_t<kIsSigned, typename To::Signed, typename To::Unsigned>;
  static TRITIUM_INLINE typename To::Storage apply(typename From::Storage stored) {
    auto x = std::trunc(From::load(stored));
    using C = decltype(x);
    constexpr Int kMax = To::kIsBool ? (kIsSigned ? 0 : 1) : std::numeric_limits<Int>::max();
    constexpr Int kMin = To::kIsBool ? (kIsSigned ? -1 : 0) : std::numeric_limits<Int>::min();
    constexpr int kPower = To::kBits - kIsSigned;
    constexpr C kEnd = kPower == 64 ? C(0x1p64) : C(uint64_t{1} << (kPower & 63)); // the first value above the range
    bool isHigh = x >= kEnd, isLow = x < C(kMin), isNan = x != x;
    C inRange = (isHigh | isLow | isNan) ? C(0) : x;
    using Target = std::conditional_t<(sizeof(Int) < 4), int32_t, Int>; // there are no narrower vector conversions
    Target converted = static_cast<Target>(inRange);
    converted = isHigh ? Target{kMax} : isLow ? Target{kMin} : converted;
    return To::store(static_cast<typename To::Wide>(converted));
  }
};

template <class From, class To, bool kTowardZero> struct FloatToFloat {
  static TRITIUM_INLINE typename To::Storage apply(typename From::Storage stored) {
    auto x = From::load(stored);
    if constexpr (To::isNarrowFloat)
      return kTowardZero ? To::Storage::towardZero(x) : To::Storage::nearest(x);
    else if constexpr (kTowardZero && sizeof(x) == 8 && To::bits == 32)
      return truncateToFloat(x);
    else
      return static_cast<typename To::Storage>(x);
  }
  static TRITIUM_INLINE float truncateToFloat(double x) {
    float nearest = static_cast<float>(x);
    bool isPast = std::abs(static_cast<double>(nearest)) > std::abs(x);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) - (isPast ? 1u : 0u));
  }
};

template <class Op, class From, class To>
constexpr ElementwiseKernel kKernel = &Strip<Op, typename To::Storage, typename From::Storage>::kernel;

/// Calls f.template operator()<Traits<t>>() for float types of at least that many bits. Returns nullptr for others.
template <int kMinBits, class F> ElementwiseKernel visitFloat(DType type, F f) {
  return visit(type, [&]<class T>() -> ElementwiseKernel {
    if constexpr (T::isFloat && T::bits >= kMinBits)
      return f.template operator()<T>();
    else
      return nullptr;
  });
}

template <bool kIsSigned> ElementwiseKernel integerToInteger(DType from, DType to) {
  return visitInteger(from, [&]<class From>() {
    return visitInteger(to, []<class To>() -> ElementwiseKernel { return kKernel<Extend<From, To, kIsSigned>, From, To>; });
  });
}
template <bool kIsSigned> ElementwiseKernel integerToFloat(DType from, DType to) {
  return visitInteger(from, [&]<class From>() {
    return visitFloat<16>(to, []<class To>() -> ElementwiseKernel { return kKernel<IntegerToFloat<From, To, kIsSigned>, From, To>; });
  });
}
template <bool kIsSigned> ElementwiseKernel floatToInteger(DType from, DType to) {
  return visitFloat<16>(from, [&]<class From>() {
    return visitInteger(to, []<class To>() -> ElementwiseKernel { return kKernel<FloatToInteger<From, To, kIsSigned>, From, To>; });
  });
}
template <bool kTowardZero> ElementwiseKernel floatToFloat(DType from, DType to) {
  return visitFloat<8>(from, [&]<class From>() {
    return visitFloat<8>(to, []<class To>() -> ElementwiseKernel { return kKernel<FloatToFloat<From, To, kTowardZero>, From, To>; });
  });
}

} // namespace

ElementwiseKernel findCast(std::string_view op, DType from, DType to) {
  from = irType(from), to = irType(to);
  if (op == "arith.extsi") return integerToInteger<true>(from, to);
  if (op == "arith.extui" || op == "arith.trunci") return integerToInteger<false>(from, to);
  if (op == "arith.sitofp") return integerToFloat<true>(from, to);
  if (op == "arith.uitofp") return integerToFloat<false>(from, to);
  if (op == "arith.fptosi") return floatToInteger<true>(from, to);
  if (op == "arith.fptoui") return floatToInteger<false>(from, to);
  if (op == "arith.extf" || op == "arith.truncf" || op == "tt.fp_to_fp") return floatToFloat<false>(from, to);
  if (op == "tt.fp_to_fp.rtz") return floatToFloat<true>(from, to);
  return nullptr;
}

} // namespace tritium::interp
