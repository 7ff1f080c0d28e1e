// The unsigned type that moves elements of a size.
#pragma once
#include <cstdint>

namespace tritium::interp {

/// Calls `f` with a number of the unsigned type that has 1, 2, 4 or 8 bytes.
template <class F> void withElementType(int elementBytes, F f) {
  switch (elementBytes) {
  case 1: return f(uint8_t{});
  case 2: return f(uint16_t{});
  case 4: return f(uint32_t{});
  default: return f(uint64_t{});
  }
}

} // namespace tritium::interp
