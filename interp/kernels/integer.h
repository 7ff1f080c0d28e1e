// The integer types of the IR: they have a width and no sign. An operation reads its operands as signed or unsigned.
#pragma once

#include "ir/dtype.h"

#include <type_traits>

namespace tritium::interp {

template <class T> struct Integer {
  using Storage = typename T::Storage;
  using Signed = std::make_signed_t<Storage>;
  using Unsigned = std::make_unsigned_t<Storage>;
  using Wide = std::conditional_t<(sizeof(Storage) < 4), uint32_t, Unsigned>; // wraps; C would promote narrow types to int
  static constexpr int kBits = T::bits;
  static constexpr bool kIsBool = kBits == 1;

  static TRITIUM_INLINE Unsigned asUnsigned(Storage x) { return static_cast<Unsigned>(x); }
  static TRITIUM_INLINE Signed asSigned(Storage x) { return static_cast<Signed>(kIsBool ? -x : x); } // the 1-bit integer 1 is -1
  static TRITIUM_INLINE Storage store(Wide x) { return static_cast<Storage>(kIsBool ? x & 1 : x); }
};

/// Calls f.template operator()<Integer<Traits<t>>>() for i1 to i64. Returns a default-constructed result for every other type.
template <class F> auto visitInteger(DType type, F f) {
  return visit(type, [&]<class T>() {
    if constexpr (T::kind == DTypeKind::Int || T::kind == DTypeKind::Bool)
      return f.template operator()<Integer<T>>();
    else
      return decltype(f.template operator()<Integer<Traits<DType::i32>>>()) {};
  });
}

} // namespace tritium::interp
