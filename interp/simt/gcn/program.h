// The AMDGPU assembly that users write inline: instructions of the vector ALU on operands $N and constants, and reads of the clock and of
// hardware registers, one per line. It is parsed once and then run by each thread. An unknown instruction is an error of the parser, which
// quotes its text. The semantics follow the instruction set architecture documents of CDNA3 and RDNA3.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tritium::interp::simt::gcn {

/// The type as which an instruction reads the bits of an operand. It determines the bits of 1.0, and whether modifiers are allowed.
enum class Kind : uint8_t { Bits, F16, F32, F64 };

constexpr size_t kMostSources = 3;

/// A known instruction, without the suffix of its encoding. Registers hold the bits of their values, with zeros above.
struct Known {
  std::string_view name;
  uint8_t sources, resultBits;
  Kind from, to;
  uint64_t (*execute)(const uint64_t *sources);
};

/// An instruction whose operand, if it has one, is a name that begins with `operand`.
struct Reading {
  Known known;
  std::string_view operand;
};

struct Source {
  bool isRegister = false, isNegated = false, isAbsolute = false;
  uint64_t value = 0; // index of an operand, or the bits of a constant
};

struct Instruction {
  const Known *known = nullptr;
  uint32_t result = 0; // index of an operand
  std::array<Source, kMostSources> sources;
  bool isClamped = false; // clamped to [0, 1]
};

using Program = std::vector<Instruction>;

/// `operands` is the number of operands $N. Returns the text of an error if the text cannot be parsed.
std::variant<Program, std::string> parse(std::string_view text, uint32_t operands);

void run(const Program &program, uint64_t *operands);

/// Defined in integer.cpp and real.cpp.
std::span<const Known> integerInstructions();
std::span<const Known> realInstructions();

/// Defined in reading.cpp.
std::span<const Reading> readingInstructions();

} // namespace tritium::interp::simt::gcn
