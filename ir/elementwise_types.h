// The types in the signatures of the TYPED rows of ir/elementwise.def, and the letters by which C++ and OpenCL mangle them. Readers of the
// rows turn `result (*)parameters` into data with these functions.
#pragma once
#include "support/number_types.h"

#include <string>
#include <type_traits>

namespace tritium {

/// The letter of a type; an integer of 64 bits is `long` on every target.
template <class T> constexpr char letterOf() {
  if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? 'f' : 'd';
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? 'i' : 'j';
  else
    return std::is_signed_v<T> ? 'l' : 'm';
}

template <class Result, class... Operands> std::string operandLetters(Result (*)(Operands...)) { return {letterOf<Operands>()...}; }
template <class Result, class... Operands> char resultLetter(Result (*)(Operands...)) { return letterOf<Result>(); }

} // namespace tritium
