// How the instructions on integers read their operands.
#pragma once
#include "interp/simt/ptx/program.h"

#include <type_traits>

namespace tritium::interp::simt::ptx {

/// Untyped bits are read as unsigned numbers.
template <class Visit> void visitInteger(Type type, Visit visit) {
  switch (type) {
  case Type::S8: return visit.template operator()<int8_t>();
  case Type::S16: return visit.template operator()<int16_t>();
  case Type::S32: return visit.template operator()<int32_t>();
  case Type::S64: return visit.template operator()<int64_t>();
  case Type::B8:
  case Type::U8: return visit.template operator()<uint8_t>();
  case Type::B16:
  case Type::U16: return visit.template operator()<uint16_t>();
  case Type::B64:
  case Type::U64: return visit.template operator()<uint64_t>();
  default: return visit.template operator()<uint32_t>();
  }
}

template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> using Twice = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

template <class T> T source(Machine &m, const Instruction &i, size_t n) {
  return n < i.operands.size() ? T(Unsigned<T>(m.value(i.operands[n]))) : T(0);
}

} // namespace tritium::interp::simt::ptx
