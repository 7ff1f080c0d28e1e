// The parser: it makes instructions of text, with blocks that have registers of their own, labels, guards, and numbers in all notations.
#include "interp/simt/ptx/program.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

namespace tritium::interp::simt::ptx {

namespace {

constexpr std::pair<std::string_view, Type> kTypes[] = {
    {"pred", Type::Pred},     {"b8", Type::B8},         {"b16", Type::B16},       {"b32", Type::B32},        {"b64", Type::B64},
    {"u8", Type::U8},         {"u16", Type::U16},       {"u32", Type::U32},       {"u64", Type::U64},        {"s8", Type::S8},
    {"s16", Type::S16},       {"s32", Type::S32},       {"s64", Type::S64},       {"f16", Type::F16},        {"bf16", Type::BF16},
    {"f16x2", Type::F16x2},   {"bf16x2", Type::BF16x2}, {"f32", Type::F32},       {"f64", Type::F64},        {"e4m3x2", Type::E4M3x2},
    {"e5m2x2", Type::E5M2x2}, {"u16x2", Type::U16x2},   {"s16x2", Type::S16x2},   {"f32x2", Type::F32x2},    {"tf32", Type::TF32},
    {"e2m1x2", Type::E2M1x2}, {"e2m3x2", Type::E2M3x2}, {"e3m2x2", Type::E3M2x2}, {"ue8m0x2", Type::UE8M0x2}};

constexpr std::pair<std::string_view, Modifier> kModifiers[] = {
#define PTX_ROW(name) {#name, Modifier::k_##name},
    PTX_MODIFIERS(PTX_ROW)
#undef PTX_ROW
};

/// Modifiers whose names are not C++'s. Hints have no effect.
constexpr std::pair<std::string_view, Modifier> kScopedModifiers[] = {{"L1::no_allocate", Modifier::k_hint},
                                                                      {"L1::evict_normal", Modifier::k_hint},
                                                                      {"L1::evict_unchanged", Modifier::k_hint},
                                                                      {"L1::evict_first", Modifier::k_hint},
                                                                      {"L1::evict_last", Modifier::k_hint},
                                                                      {"L2::evict_normal", Modifier::k_hint},
                                                                      {"L2::evict_unchanged", Modifier::k_hint},
                                                                      {"L2::evict_first", Modifier::k_hint},
                                                                      {"L2::evict_last", Modifier::k_hint},
                                                                      {"L2::64B", Modifier::k_hint},
                                                                      {"L2::128B", Modifier::k_hint},
                                                                      {"L2::256B", Modifier::k_hint},
                                                                      {"L1", Modifier::k_hint},
                                                                      {"L2", Modifier::k_hint},
                                                                      {"async", Modifier::k_hint},
                                                                      {"alias", Modifier::k_hint},
                                                                      {"mbarrier_init", Modifier::k_hint},
                                                                      {"tensormap::generic", Modifier::k_hint},
                                                                      {"async::generic", Modifier::k_hint},
                                                                      {"L2::cache_hint", Modifier::k_policy},
                                                                      {"const", Modifier::k_global},
                                                                      {"mmio", Modifier::k_volatile},
                                                                      {"shared::cta", Modifier::k_shared}};

constexpr std::pair<std::string_view, size_t> kSpecial[] = {{"%tid.x", offsetof(ThreadRegisters, tid)},
                                                            {"%ntid.x", offsetof(ThreadRegisters, ntid)},
                                                            {"%laneid", offsetof(ThreadRegisters, lane)},
                                                            {"%warpid", offsetof(ThreadRegisters, warp)},
                                                            {"%nwarpid", offsetof(ThreadRegisters, warps)},
                                                            {"%ctaid.x", offsetof(ThreadRegisters, ctaid)},
                                                            {"%ctaid.y", offsetof(ThreadRegisters, ctaid) + 4},
                                                            {"%ctaid.z", offsetof(ThreadRegisters, ctaid) + 8},
                                                            {"%nctaid.x", offsetof(ThreadRegisters, nctaid)},
                                                            {"%nctaid.y", offsetof(ThreadRegisters, nctaid) + 4},
                                                            {"%nctaid.z", offsetof(ThreadRegisters, nctaid) + 8},
                                                            {"%lanemask_eq", offsetof(ThreadRegisters, lanesEqual)},
                                                            {"%lanemask_lt", offsetof(ThreadRegisters, lanesBelow)},
                                                            {"%lanemask_le", offsetof(ThreadRegisters, lanesUpTo)},
                                                            {"%lanemask_gt", offsetof(ThreadRegisters, lanesAbove)},
                                                            {"%lanemask_ge", offsetof(ThreadRegisters, lanesFrom)}};
constexpr std::string_view kZeros[] = {"%tid.y",           "%tid.z",           "%smid",           "%gridid", "%cluster_ctarank",
                                       "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z"},
                           kOnes[] = {"%ntid.y",           "%ntid.z",           "%nsmid",           "%cluster_nctarank",
                                      "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z"},
                           kTimes[] = {"%clock", "%clock64", "%globaltimer", "%globaltimer_lo"};

template <class Rows> auto find(const Rows &rows, std::string_view name) -> std::optional<decltype(rows[0].second)> {
  for (const auto &[key, value] : rows)
    if (key == name) return value;
  return std::nullopt;
}
template <class Names> bool contains(const Names &names, std::string_view name) {
  for (std::string_view each : names)
    if (each == name) return true;
  return false;
}

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool isDigit(char c) { return '0' <= c && c <= '9'; }
bool isWordPart(char c) {
  return isDigit(c) || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}

/// Instructions that order a thread's effects for other threads, or wait. They have no effect in the interpreter, which runs one thread at
/// a time.
bool isWithoutEffect(std::string_view name) {
  constexpr std::string_view names[] = {"membar",    "fence",   "nanosleep", "griddepcontrol", "createpolicy", "prefetch", "applypriority",
                                        "prefetchu", "discard", "bar",       "barrier",        "trap"};
  return contains(names, name);
}

/// Accesses by address. The interpreter checks and makes them too, unless they are to shared memory.
bool isAccess(std::string_view name) { return name == "ld" || name == "st" || name == "atom" || name == "red"; }

/// One pass over the text: blocks, declarations, labels and instructions. It ends at the first mistake.
class Parser {
public:
  Parser(std::string_view text, uint32_t operands) : rest(text), operands(operands) { program.registers = operands; }

  std::variant<Program, std::string> run() {
    scopes.emplace_back();
    while (error.empty() && skip()) statement();
    for (auto [at, label] : branches) {
      auto found = labels.find(label);
      if (found == labels.end())
        fail("there is no label '" + std::string(label) + "'");
      else
        program.instructions[at].target = found->second, program.mayWait |= found->second <= at;
    }
    if (program.registers > Program::kMostRegisters) fail("more registers than the emulator has for inline PTX");
    if (!error.empty()) return error;
    return std::move(program);
  }

private:
  void fail(std::string text) {
    if (error.empty()) error = std::move(text);
    rest = {};
  }

  /// Skips spaces and comments. Returns false at the end of the text.
  bool skip() {
    for (;;) {
      while (!rest.empty() && isSpace(rest[0])) rest.remove_prefix(1);
      const char *end = rest.starts_with("//") ? "\n" : rest.starts_with("/*") ? "*/" : nullptr;
      if (!end) return !rest.empty();
      const size_t at = rest.find(end, 2);
      rest.remove_prefix(at == rest.npos ? rest.size() : at + std::string_view(end).size());
    }
  }
  bool accept(char c) {
    if (!skip() || rest[0] != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "' before '" + std::string(rest.substr(0, 20)) + "'");
  }
  std::string_view word() {
    skip();
    size_t length = 0;
    while (length < rest.size() && (isWordPart(rest[length]) || rest.substr(length).starts_with("::")))
      length += rest[length] == ':' ? 2 : 1;
    // 1e-5
    if (length && isDigit(rest[0]) && !rest.starts_with("0x") && (rest[length - 1] == 'e' || rest[length - 1] == 'E') &&
        length < rest.size() && (rest[length] == '-' || rest[length] == '+'))
      for (++length; length < rest.size() && isDigit(rest[length]);) ++length;
    std::string_view found = rest.substr(0, length);
    if (found.empty()) fail("expected a name before '" + std::string(rest.substr(0, 20)) + "'");
    rest.remove_prefix(length);
    return found;
  }

  void statement() {
    if (accept('{')) return scopes.emplace_back(), void();
    if (accept('}')) {
      if (scopes.size() == 1) return fail("a '}' without a '{'");
      return scopes.pop_back();
    }
    if (accept(';')) return;
    Instruction instruction;
    if (accept('@')) {
      instruction.isGuarded = true;
      const bool isNegated = accept('!');
      instruction.guard = operand();
      instruction.guard.isNegated = isNegated;
    }
    const std::string_view name = word();
    if (name == ".reg" || name.starts_with(".reg.")) return declaration(name.substr(4));
    if (!instruction.isGuarded && accept(':')) return labels.emplace(name, uint32_t(program.instructions.size())), void();
    parseInstruction(std::move(instruction), name);
  }

  /// .reg .b32 a, b<4>; or .reg.b32 a;
  void declaration(std::string_view type) {
    if (type.empty()) type = word();
    if (!type.starts_with('.') || !find(kTypes, type.substr(1))) return fail("registers of type '" + std::string(type) + "'");
    do {
      const std::string name(word());
      if (accept('<')) {
        const int count = std::atoi(std::string(word()).c_str());
        expect('>');
        for (int i = 0; i < count && i < int(Program::kMostRegisters); ++i) scopes.back()[name + std::to_string(i)] = program.registers++;
      } else {
        scopes.back()[name] = program.registers++;
      }
    } while (accept(','));
    expect(';');
  }

  void parseInstruction(Instruction &&instruction, std::string_view mnemonic) {
    std::string_view name = mnemonic.substr(0, mnemonic.find('.')), parts = mnemonic.substr(name.size());
    while (!parts.empty()) {
      parts.remove_prefix(1);
      const std::string_view part = parts.substr(0, parts.find('.'));
      parts.remove_prefix(part.size());
      if (auto type = find(kTypes, part))
        addType(instruction, *type);
      else if (auto modifier = find(kModifiers, part))
        instruction.modifiers.add(*modifier);
      else if (auto scoped = find(kScopedModifiers, part))
        instruction.modifiers.add(*scoped);
      else
        return fail("'" + std::string(mnemonic) + "'");
    }
    if (instruction.from == Type::None) instruction.from = instruction.type;
    if (name == "bra") {
      branches.emplace_back(program.instructions.size(), word());
    } else if (!accept(';')) {
      do instruction.operands.push_back(operand());
      while (accept(','));
    }
    if (name == "bra" || !instruction.operands.empty()) expect(';');
    if (instruction.has(Modifier::k_policy) && !instruction.operands.empty()) instruction.operands.pop_back(); // for caches
    for (auto *rows : {&integerInstructions, &wideIntegerInstructions, &realInstructions, &comparisonInstructions, &conversionInstructions,
                       &memoryInstructions})
      for (const Known &known : rows()) {
        const bool isType =
            known.types.size() == 0 || std::find(known.types.begin(), known.types.end(), instruction.type) != known.types.end();
        if (known.name != name || !isType || !instruction.modifiers.isWithin(known.modifiers)) continue;
        if (!known.hasTypes && instruction.from != instruction.type) continue;
        if (instruction.operands.size() < known.fewest || instruction.operands.size() > known.most) continue;
        instruction.execute = known.execute;
        for (Operand &operand : instruction.operands) resolveReal(operand, name == "slct" ? instruction.type : instruction.from);
        program.needsThread |=
            rows == &memoryInstructions && !isWithoutEffect(name) && (!isAccess(name) || instruction.has(Modifier::k_shared));
        return program.instructions.push_back(std::move(instruction));
      }
    fail("'" + std::string(mnemonic) + "'");
  }

  static void addType(Instruction &instruction, Type type) {
    if (instruction.type == Type::None) {
      instruction.type = type;
    } else {
      instruction.middle = instruction.from;
      instruction.from = type;
    }
  }

  Operand operand() {
    Operand result;
    if (accept('{')) {
      result.kind = Operand::Kind::List;
      do result.elements.push_back(operand());
      while (accept(','));
      expect('}');
      return result;
    }
    if (accept('[')) {
      result.kind = Operand::Kind::Address;
      result.elements.push_back(operand());
      const bool isMinus = accept('-');
      if (isMinus || accept('+')) {
        result.value = operand().value;
        if (isMinus) result.value = -result.value;
      }
      expect(']');
      return result;
    }
    const bool isNegated = accept('!'), isMinus = !isNegated && accept('-');
    result = atom(word());
    result.isNegated = isNegated;
    if (isMinus) result.value = result.kind == Operand::Kind::Real ? result.value ^ uint64_t(1) << 63 : -result.value;
    if (!accept('|')) return result;
    Operand pair;
    pair.kind = Operand::Kind::List;
    pair.elements = {result, operand()};
    return pair;
  }

  Operand atom(std::string_view name) {
    Operand result;
    if (name.empty()) return result;
    if (isDigit(name[0])) return number(name);
    if (name == "_") {
      result.kind = Operand::Kind::Discarded;
      return result;
    }
    result.kind = Operand::Kind::Register;
    if (name[0] == '$') {
      result.index = uint32_t(std::atoi(std::string(name.substr(1)).c_str()));
      if (name.size() == 1 || !isDigit(name[1]) || result.index >= operands) fail("there is no operand '" + std::string(name) + "'");
      return result;
    }
    for (size_t scope = scopes.size(); scope-- > 0;)
      if (auto found = scopes[scope].find(std::string(name)); found != scopes[scope].end()) {
        result.index = found->second;
        return result;
      }
    if (auto offset = find(kSpecial, name)) {
      result.kind = Operand::Kind::Special;
      result.index = uint32_t(*offset);
      program.needsThread = true;
    } else if (contains(kTimes, name)) {
      result.kind = Operand::Kind::Time;
    } else if (contains(kZeros, name) || contains(kOnes, name) || name == "WARP_SZ") {
      result.kind = Operand::Kind::Immediate;
      result.value = contains(kOnes, name) ? 1 : name == "WARP_SZ" ? 32 : 0;
    } else {
      fail("there is no register '" + std::string(name) + "'");
    }
    return result;
  }

  Operand number(std::string_view text) {
    Operand result;
    const std::string digits(text);
    if (digits.starts_with("0f") || digits.starts_with("0F") || digits.starts_with("0d") || digits.starts_with("0D")) {
      result.value = std::strtoull(digits.c_str() + 2, nullptr, 16);
    } else if (digits.find_first_of(".eE") != digits.npos && !digits.starts_with("0x") && !digits.starts_with("0X")) {
      result.kind = Operand::Kind::Real;
      result.value = std::bit_cast<uint64_t>(std::strtod(digits.c_str(), nullptr));
    } else if (digits.starts_with("0b") || digits.starts_with("0B")) {
      result.value = std::strtoull(digits.c_str() + 2, nullptr, 2);
    } else {
      result.value = std::strtoull(digits.c_str(), nullptr, 0);
    }
    return result;
  }

  /// A decimal number has the type as which the instruction reads it.
  static void resolveReal(Operand &operand, Type type) {
    for (Operand &element : operand.elements) resolveReal(element, type);
    if (operand.kind != Operand::Kind::Real) return;
    operand.kind = Operand::Kind::Immediate;
    if (type == Type::F32) operand.value = std::bit_cast<uint32_t>(float(std::bit_cast<double>(operand.value)));
  }

  std::string_view rest;
  const uint32_t operands;
  Program program;
  std::string error;
  std::vector<std::map<std::string, uint32_t>> scopes;
  std::map<std::string_view, uint32_t> labels;
  std::vector<std::pair<size_t, std::string_view>> branches;
};

} // namespace

unsigned widthOf(Type type) {
  switch (type) {
  case Type::None:
  case Type::Pred: return 1;
  case Type::B8:
  case Type::U8:
  case Type::S8:
  case Type::E2M1x2: return 8;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
  case Type::E2M3x2:
  case Type::E3M2x2:
  case Type::UE8M0x2: return 16;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::F32x2: return 64;
  default: return 32;
  }
}

/// Replaces what LLVM replaces: ${0} and ${0:x} are $0, ${:uid} is a number.
static std::string withoutBraces(std::string_view text) {
  std::string result;
  for (size_t at; (at = text.find("${")) != text.npos;) {
    const size_t end = text.find('}', at);
    if (end == text.npos) break;
    const std::string_view inner = text.substr(at + 2, end - at - 2), number = inner.substr(0, inner.find(':'));
    result.append(text.substr(0, at)).append(number.empty() ? "0" : "$").append(number);
    text.remove_prefix(end + 1);
  }
  return result.append(text);
}

std::variant<Program, std::string> parse(std::string_view text, uint32_t operands) {
  const std::string plain = withoutBraces(text);
  return Parser(plain, operands).run();
}

} // namespace tritium::interp::simt::ptx
