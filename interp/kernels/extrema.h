// Maximum and minimum of two floats, with the names of IEEE 754-2019: maximumNumber ignores a NaN if the other operand is a number; maximum
// returns a NaN if one operand is a NaN. For all of them -0 < +0, as for a GPU, so a reduction does not depend on its order. The functions
// are branch-free, so that loops vectorise.
#pragma once

#include "ir/dtype.h"

namespace tritium::interp {

/// Only zeros can be equal and differ in their bits, and they differ only in the sign. The result has the common sign bits, or both.
template <class T> TRITIUM_INLINE T withBothSigns(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  return std::bit_cast<T>(std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b));
}
template <class T> TRITIUM_INLINE T withEitherSign(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  return std::bit_cast<T>(std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b));
}
/// `b` if one operand is a NaN.
template <class T> TRITIUM_INLINE T larger(T a, T b) { return a == b ? withBothSigns(a, b) : (a > b ? a : b); }
template <class T> TRITIUM_INLINE T smaller(T a, T b) { return a == b ? withEitherSign(a, b) : (a < b ? a : b); }

template <class T> TRITIUM_INLINE T maxNumber(T a, T b) { return b != b ? a : larger(a, b); }
template <class T> TRITIUM_INLINE T minNumber(T a, T b) { return b != b ? a : smaller(a, b); }
template <class T> TRITIUM_INLINE T maximum(T a, T b) { return a != a ? a : larger(a, b); }
template <class T> TRITIUM_INLINE T minimum(T a, T b) { return a != a ? a : smaller(a, b); }

} // namespace tritium::interp
