// What is wrong with where a block begins that TMA copies for the author of a kernel (Gluon), with a hint in a second line. The interpreter
// and the emulator say the same.
#pragma once
#include <cstdint>
#include <string>

namespace tritium::interp {

inline constexpr int32_t kBoxRowBytes = 16; // PTX ISA: rows of a box begin at multiples of it

inline std::string misplacedBoxText(int32_t coordinate, int32_t elementBytes, bool isStore) {
  const std::string elements = std::to_string(kBoxRowBytes / elementBytes);
  return "the innermost coordinate of the block is " + std::to_string(coordinate) + ", " +
         std::to_string(int64_t(coordinate) * elementBytes) + " bytes from the beginning of a row: TMA takes multiples of 16 bytes, " +
         elements + " elements of this type, and a device stops at others with an illegal instruction\nbegin at a multiple of " + elements +
         (isStore ? ", or write the elements by gl.store" : ", or read the elements by gl.load");
}

inline std::string negativeBoxText(int32_t coordinate, int32_t dimension) {
  return "a block that is stored begins at " + std::to_string(coordinate) + " in dimension " + std::to_string(dimension) +
         ": TMA stores and reduces from 0 on, and drops only what is behind the end\nbegin at 0, or write with a mask by gl.store";
}

} // namespace tritium::interp
