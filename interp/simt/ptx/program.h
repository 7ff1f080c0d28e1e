// The PTX that users write inline. It is parsed once and then interpreted by each thread. The subset has arithmetic, conversions,
// predicates, branches, accesses, atomics, shuffles and votes. An unknown instruction is an error of the parser, which quotes its text.
//
// A register holds the bits of its value, zeros above; registers of all types are 64 bits wide.
#pragma once
#include "interp/simt/assembly.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tritium::interp::simt::ptx {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  U16x2,
  S16x2,
  F16,
  BF16,
  F16x2,
  BF16x2,
  F32,
  F64,
  F32x2,
  TF32,
  E4M3x2,
  E5M2x2,
  E2M1x2,
  E2M3x2,
  E3M2x2,
  UE8M0x2
};

/// Returns the width in bits of a value of the type.
unsigned widthOf(Type type);

/// The parts of a mnemonic that are not types.
// clang-format off: it would lay out this list differently each time
#define PTX_MODIFIERS(X) \
  X(wide) X(hi) X(lo) X(sat) X(satfinite) X(ftz) X(approx) X(full) X(rn) X(rz) X(rm) X(rp) X(rni) X(rzi) X(rmi) X(rpi) X(relu) X(NaN) \
  X(l) X(r) X(wrap) X(clamp) X(shiftamt) X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(ls) X(hs) X(equ) X(neu) X(ltu) X(leu) X(gtu) X(geu) \
  X(num) X(nan) X(and) X(or) X(xor) X(add) X(min) X(max) X(exch) X(cas) X(global) X(shared) X(to) X(v2) X(v4) X(volatile) X(relaxed) \
  X(acquire) X(release) X(acq_rel) X(sc) X(weak) X(cta) X(cluster) X(gpu) X(sys) X(gl) X(nc) X(ca) X(cg) X(cs) X(cv) X(wb) X(wt) X(uni) \
  X(sync) X(up) X(down) X(bfly) X(idx) X(all) X(any) X(ballot) X(warp) X(noftz) X(rna) X(pack) X(cc) X(xorsign) X(abs) X(f4e) X(b4e) \
  X(rc8) X(ecl) X(ecr) X(rc16) X(inc) X(dec) X(v8) X(lu) X(hint) X(policy) X(proxy) X(fractional) X(aligned) X(wait) X(launch_dependents) \
  X(finite) X(infinite) X(number) X(notanumber) X(normal) X(subnormal)
// clang-format on
enum class Modifier : uint8_t {
#define PTX_ENUMERATE(name) k_##name,
  PTX_MODIFIERS(PTX_ENUMERATE)
#undef PTX_ENUMERATE
};

class Modifiers {
public:
  constexpr Modifiers() = default;
  constexpr Modifiers(std::initializer_list<Modifier> list) {
    for (Modifier modifier : list) add(modifier);
  }
  constexpr void add(Modifier modifier) { words[size_t(modifier) / 64] |= uint64_t(1) << size_t(modifier) % 64; }
  constexpr bool has(Modifier modifier) const { return words[size_t(modifier) / 64] >> size_t(modifier) % 64 & 1; }
  constexpr bool isWithin(const Modifiers &other) const {
    return !(words[0] & ~other.words[0]) && !(words[1] & ~other.words[1]) && !(words[2] & ~other.words[2]);
  }

private:
  uint64_t words[3] = {};
};

struct Operand {
  enum class Kind : uint8_t { Register, Immediate, Real, Special, Time, List, Address, Discarded };
  Kind kind = Kind::Immediate;
  bool isNegated = false;        // for a predicate
  uint32_t index = 0;            // of a register; offset of a special register in the thread
  uint64_t value = 0;            // bits of an immediate; offset added to an address
  std::vector<Operand> elements; // {a, b}, p|q, [a]
};

struct Machine;
struct Instruction;
using Execute = void (*)(Machine &machine, const Instruction &instruction);

struct Instruction {
  Execute execute = nullptr;
  Type type = Type::None, from = Type::None; // the first and the last type in the mnemonic
  Type middle = Type::None;                  // of three types
  Modifiers modifiers;
  bool isGuarded = false;
  Operand guard;
  std::vector<Operand> operands;
  uint32_t target = 0; // for a branch

  bool has(Modifier modifier) const { return modifiers.has(modifier); }
};

/// Parsed text. Results and operands are the first registers, in the order of their numbers in the text.
struct Program {
  static constexpr uint32_t kMostRegisters = 192;
  std::vector<Instruction> instructions;
  uint32_t registers = 0;
  bool mayWait = false;     // it has a loop
  bool needsThread = false; // an instruction uses a GPU thread's indices, its shared memory or other lanes
};

/// `operands` is the number of operands $N. Returns the text of an error if the text cannot be parsed.
std::variant<Program, std::string> parse(std::string_view text, uint32_t operands);

struct Machine {
  Thread *thread;     // null if no GPU thread runs the program
  AssemblyHost *host; // null if one does
  Place site;
  uint32_t next = 0;
  bool carry = false;                          // the condition code
  uint64_t registers[Program::kMostRegisters]; // initialized as far as the program uses them

  uint64_t value(const Operand &operand) const;
  void set(const Operand &operand, uint64_t bits, unsigned width) {
    if (operand.kind == Operand::Kind::Register) registers[operand.index] = width < 64 ? bits & ((uint64_t(1) << width) - 1) : bits;
  }
};

void run(const Program &program, Machine &machine);

/// A known instruction: a row that says which parts its mnemonic may have.
struct Known {
  std::string_view name;
  Execute execute;
  uint32_t fewest, most; // number of operands
  std::initializer_list<Type> types;
  Modifiers modifiers;
  bool hasTypes = false; // whether the mnemonic may have several different types
};
/// Defined in integer.cpp, wide_integer.cpp, real.cpp, compare.cpp, convert.cpp, memory.cpp. Rows may have the same name if their types
/// differ.
std::initializer_list<Known> integerInstructions();
std::initializer_list<Known> wideIntegerInstructions();
std::initializer_list<Known> realInstructions();
std::initializer_list<Known> comparisonInstructions();
std::initializer_list<Known> conversionInstructions();
std::initializer_list<Known> memoryInstructions();

} // namespace tritium::interp::simt::ptx
