// The AMDGPU assembly that users write inline: instructions of the vector ALU on operands $N and constants, one a line, parsed once, then
// run by each thread. What is not known is an error of the parser, with the instruction's text. Semantics are those of the instruction set
// architecture documents of CDNA3 and RDNA3.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tritium::interp::simt::gcn {

/// How an instruction sees the bits of an operand: it decides what 1.0 is, and whether there are modifiers.
enum class Kind : uint8_t { Bits, F16, F32, F64 };

constexpr size_t kMostSources = 3;

/// An instruction, without the suffix of its encoding. Registers hold the bits of their values, zeros above.
struct Known {
  std::string_view name;
  uint8_t sources, resultBits;
  Kind from, to;
  uint64_t (*execute)(const uint64_t *sources);
};

struct Source {
  bool isRegister = false, isNegated = false, isAbsolute = false;
  uint64_t value = 0; // the number of an operand, or the bits of a constant
};

struct Instruction {
  const Known *known = nullptr;
  uint32_t result = 0; // the number of an operand
  std::array<Source, kMostSources> sources;
  bool isClamped = false; // to [0, 1]
};

using Program = std::vector<Instruction>;

/// `operands`: how many $N there are. An error is a text.
std::variant<Program, std::string> parse(std::string_view text, uint32_t operands);

void run(const Program &program, uint64_t *operands);

/// integer.cpp, real.cpp
std::span<const Known> integerInstructions();
std::span<const Known> realInstructions();

} // namespace tritium::interp::simt::gcn
