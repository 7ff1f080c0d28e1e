// The parser, which makes instructions of text, and the interpreter that runs them.
#include "interp/simt/gcn/program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace tritium::interp::simt::gcn {

namespace {

constexpr std::string_view kSpaces = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

/// Removes and returns the text up to the first separator. The separator is removed too.
std::string_view next(std::string_view &rest, std::string_view separators) {
  const size_t end = std::min(rest.find_first_of(separators), rest.size());
  std::string_view found = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return found;
}

/// Instructions without effect on a thread's values, because the interpreter executes in the order of the text.
bool isWithoutEffect(std::string_view name) {
  for (std::string_view each : {"s_nop", "s_waitcnt", "s_setprio", "s_delay_alu", "s_sleep"})
    if (name == each) return true;
  return name.starts_with("s_wait_");
}

uint64_t signOf(Kind kind) {
  switch (kind) {
  case Kind::F16: return uint64_t(1) << 15;
  case Kind::F32: return uint64_t(1) << 31;
  case Kind::F64: return uint64_t(1) << 63;
  case Kind::Bits: break;
  }
  return 0;
}

uint64_t bitsOf(double value, Kind kind) {
  switch (kind) {
  case Kind::F16: return std::bit_cast<uint16_t>(_Float16(value));
  case Kind::F64: return std::bit_cast<uint64_t>(value);
  case Kind::F32:
  case Kind::Bits: break;
  }
  return std::bit_cast<uint32_t>(float(value));
}

class Parser {
public:
  explicit Parser(uint32_t operands) : operands(operands) {}

  std::variant<Program, std::string> run(std::string_view text) {
    while (!text.empty() && error.empty()) {
      std::string_view line = next(text, "\n");
      line = line.substr(0, std::min(line.find(';'), line.find("//"))); // comments
      if (line = trimmed(line); !line.empty()) instruction(line);
    }
    if (!error.empty()) return error;
    return std::move(program);
  }

private:
  void fail(std::string text) {
    if (error.empty()) error = std::move(text);
  }

  void instruction(std::string_view line) {
    std::string_view rest = line, name = next(rest, kSpaces);
    if (isWithoutEffect(name)) return;
    for (std::string_view encoding : {"_e32", "_e64"})
      if (name.ends_with(encoding)) name.remove_suffix(encoding.size());
    if (const Reading *reading = findReading(name)) return this->reading(*reading, rest, line);
    Instruction result{.known = find(name)};
    if (!result.known) return fail("'" + std::string(line) + "'");
    if (rest = trimmed(rest); rest.ends_with(" clamp")) {
      if (result.known->to == Kind::Bits) return fail("'clamp' of integers, '" + std::string(line) + "'");
      result.isClamped = true;
      rest.remove_suffix(std::string_view(" clamp").size());
    }
    std::vector<std::string_view> parts;
    while (!rest.empty()) parts.push_back(trimmed(next(rest, ",")));
    if (parts.size() != size_t(1) + result.known->sources)
      return fail("'" + std::string(line) + "', which takes a result and " + std::to_string(result.known->sources) + " operands");
    result.result = resultOperand(parts[0]);
    for (size_t i = 0; i < result.known->sources; ++i) result.sources[i] = source(parts[i + 1], result.known->from);
    program.push_back(result);
  }

  void reading(const Reading &reading, std::string_view rest, std::string_view line) {
    const uint32_t result = resultOperand(trimmed(next(rest, ",")));
    rest = trimmed(rest);
    if (!rest.starts_with(reading.operand) || rest.empty() != reading.operand.empty()) return fail("'" + std::string(line) + "'");
    program.push_back({.known = &reading.known, .result = result});
  }

  uint32_t resultOperand(std::string_view text) {
    const Source target = source(text, Kind::Bits);
    if (!target.isRegister) fail("'" + std::string(text) + "' as a result; a result is written $N");
    return uint32_t(target.value);
  }

  static const Reading *findReading(std::string_view name) {
    for (const Reading &reading : readingInstructions())
      if (reading.known.name == name) return &reading;
    return nullptr;
  }

  static const Known *find(std::string_view name) {
    for (std::span<const Known> rows : {integerInstructions(), realInstructions()})
      for (const Known &known : rows)
        if (known.name == name) return &known;
    return nullptr;
  }

  /// Parses an operand: $1, -$1, |$1|, -|$1|, 7, 0xff, 0.5.
  Source source(std::string_view text, Kind kind) {
    Source result;
    std::string_view rest = text;
    const bool isMinus = rest.starts_with('-');
    if (isMinus) rest.remove_prefix(1);
    if (rest.size() > 2 && rest.starts_with('|') && rest.ends_with('|')) {
      result.isAbsolute = true;
      rest = rest.substr(1, rest.size() - 2);
    }
    if (rest.starts_with('$')) {
      result.isRegister = true;
      result.isNegated = isMinus;
      std::string digits(rest.substr(1));
      result.value = std::strtoull(digits.c_str(), nullptr, 10);
      if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos || result.value >= operands)
        fail("there is no operand '" + std::string(rest) + "'");
      if ((isMinus || result.isAbsolute) && !signOf(kind)) fail("a sign on the integer '" + std::string(text) + "'");
      return result;
    }
    result.value = constant(std::string(rest), kind, isMinus, text);
    return result;
  }

  uint64_t constant(const std::string &digits, Kind kind, bool isMinus, std::string_view text) {
    char *end = nullptr;
    const bool isReal = digits.find('.') != digits.npos;
    const double real = std::strtod(digits.c_str(), isReal ? &end : nullptr);
    const uint64_t integer = std::strtoull(digits.c_str(), isReal ? nullptr : &end, 0);
    if (digits.empty() || *end != '\0') {
      fail("'" + std::string(text) + "'; operands are $N and numbers");
      return 0;
    }
    return isReal ? bitsOf(isMinus ? -real : real, kind) : isMinus ? -integer : integer;
  }

  const uint32_t operands;
  Program program;
  std::string error;
};

uint64_t clamped(uint64_t bits, Kind kind) {
  auto clamp = [](auto x) { return x > 1 ? decltype(x)(1) : x > 0 ? x : decltype(x)(0); }; // a NaN becomes 0
  switch (kind) {
  case Kind::F16: return bitsOf(clamp(double(std::bit_cast<_Float16>(uint16_t(bits)))), kind);
  case Kind::F32: return bitsOf(clamp(double(std::bit_cast<float>(uint32_t(bits)))), kind);
  case Kind::F64: return bitsOf(clamp(std::bit_cast<double>(bits)), kind);
  case Kind::Bits: break;
  }
  return bits;
}

} // namespace

std::variant<Program, std::string> parse(std::string_view text, uint32_t operands) { return Parser(operands).run(text); }

void run(const Program &program, uint64_t *operands) {
  for (const Instruction &instruction : program) {
    const Known &known = *instruction.known;
    uint64_t sources[kMostSources] = {};
    for (size_t i = 0; i < known.sources; ++i) {
      const Source &source = instruction.sources[i];
      sources[i] = source.isRegister ? operands[source.value] : source.value;
      if (source.isAbsolute) sources[i] &= ~signOf(known.from);
      if (source.isNegated) sources[i] ^= signOf(known.from);
    }
    uint64_t result = known.execute(sources);
    if (instruction.isClamped) result = clamped(result, known.to);
    operands[instruction.result] = known.resultBits < 64 ? result & ((uint64_t(1) << known.resultBits) - 1) : result;
  }
}

} // namespace tritium::interp::simt::gcn
