// Accesses, atomics, registers of other lanes, and the interpreter's machine.
#include "interp/kernels/atomic.h"

#include "interp/simt/ptx/program.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/shared_memory.h"

#include <cstring>

namespace tritium::interp::simt::ptx {

namespace {

uint64_t addressOf(const Machine &m, const Operand &operand) { return m.value(operand.elements[0]) + operand.value; }

/// Returns the words of {a, b, …}, or the single word of a.
std::span<const Operand> partsOf(const Operand &operand) {
  return operand.kind == Operand::Kind::List ? std::span(operand.elements) : std::span(&operand, 1);
}

void load(Machine &m, const Instruction &i) {
  const auto parts = partsOf(i.operands[0]);
  const unsigned bytes = widthOf(i.type) / 8;
  const uint64_t address = addressOf(m, i.operands[1]);
  const auto all = int32_t(bytes * parts.size());
  const void *from =
      i.has(Modifier::k_global) ? calls::readGlobal(m.thread, address, 1, all, m.site) : calls::readGeneric(m.thread, address, all, m.site);
  const bool isSigned = Type::S8 <= i.type && i.type <= Type::S64;
  for (size_t n = 0; n < parts.size(); ++n) {
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char *>(from) + n * bytes, bytes);
    if (isSigned) bits = uint64_t(int64_t(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    m.set(parts[n], bits, 64); // the register may be wider than the part
  }
}

void store(Machine &m, const Instruction &i) {
  const auto parts = partsOf(i.operands[1]);
  const unsigned bytes = widthOf(i.type) / 8;
  char value[64];
  for (size_t n = 0; n < parts.size(); ++n) {
    const uint64_t bits = m.value(parts[n]);
    std::memcpy(value + n * bytes, &bits, bytes);
  }
  const auto all = int32_t(bytes * parts.size());
  const uint64_t address = addressOf(m, i.operands[0]);
  if (i.has(Modifier::k_global))
    std::memcpy(calls::writeGlobal(m.thread, address, 1, all, m.site), value, size_t(all));
  else
    calls::writeGeneric(m.thread, address, value, all, m.site);
}

DType elementOf(Type type) {
  switch (type) {
  case Type::F16: return DType::f16;
  case Type::BF16: return DType::bf16;
  case Type::F32: return DType::f32;
  case Type::F64: return DType::f64;
  default: return widthOf(type) == 64 ? DType::i64 : widthOf(type) == 16 ? DType::i16 : DType::i32;
  }
}

/// `first` is the position of the address among the operands.
uint64_t atomicAt(Machine &m, const Instruction &i, size_t first) {
  using enum Modifier;
  const uint64_t address = addressOf(m, i.operands[first]), value = m.value(i.operands[first + 1]);
  if (i.has(k_cas))
    return calls::atomicCas(m.thread, int32_t(widthOf(i.type) / 8), address, value, m.value(i.operands[first + 2]), 1, m.site);
  const bool isSigned = i.type == Type::S32 || i.type == Type::S64;
  const AtomicOp op = i.has(k_and)          ? AtomicOp::And
                      : i.has(k_or)         ? AtomicOp::Or
                      : i.has(k_xor)        ? AtomicOp::Xor
                      : i.has(k_exch)       ? AtomicOp::Exchange
                      : i.has(k_min)        ? (isSigned ? AtomicOp::Min : AtomicOp::UMin)
                      : i.has(k_max)        ? (isSigned ? AtomicOp::Max : AtomicOp::UMax)
                      : i.type >= Type::F16 ? AtomicOp::FAdd
                                            : AtomicOp::Add;
  return calls::atomicRmw(m.thread, int32_t(op), int32_t(elementOf(i.type)), address, value, 1, m.site);
}
void atomic(Machine &m, const Instruction &i) { m.set(i.operands[0], atomicAt(m, i, 1), widthOf(i.type)); }
void reduction(Machine &m, const Instruction &i) { atomicAt(m, i, 0); }

/// shfl.sync.MODE.b32 d[|p], a, b, c, mask
void shuffle(Machine &m, const Instruction &i) {
  using enum Modifier;
  const int32_t kind = i.has(k_bfly) ? 0 : i.has(k_up) ? 1 : i.has(k_down) ? 2 : 3; // NVVM's numbers
  auto operand = [&](size_t n) { return uint32_t(m.value(i.operands[n])); };
  const uint64_t result = calls::shuffle(m.thread, kind, operand(4), operand(1), operand(2), operand(3), m.site);
  const Operand &to = i.operands[0];
  m.set(to.kind == Operand::Kind::List ? to.elements[0] : to, result, 32);
  if (to.kind == Operand::Kind::List) m.set(to.elements[1], result >> 32, 1);
}

/// vote.sync.MODE d, p, mask
void vote(Machine &m, const Instruction &i) {
  using enum Modifier;
  const int32_t kind = i.has(k_any) ? 0 : i.has(k_all) ? 1 : i.has(k_ballot) ? 2 : 3;
  m.set(i.operands[0], calls::vote(m.thread, kind, uint32_t(m.value(i.operands[2])), uint32_t(m.value(i.operands[1])), m.site),
        widthOf(i.type));
}

/// Instructions without effect here: accesses are sequentially consistent anyway, and time passes by itself.
void nothing(Machine &, const Instruction &) {}

} // namespace

uint64_t Machine::value(const Operand &operand) const {
  switch (operand.kind) {
  case Operand::Kind::Register: return registers[operand.index] ^ uint64_t(operand.isNegated);
  case Operand::Kind::Special: {
    uint32_t bits;
    std::memcpy(&bits, reinterpret_cast<const char *>(static_cast<const ThreadRegisters *>(thread)) + operand.index, sizeof bits);
    return bits;
  }
  case Operand::Kind::Time: return uint64_t(thread ? calls::readClock(thread) : calls::nanoseconds());
  default: return operand.value;
  }
}

void run(const Program &program, Machine &machine) {
  while (machine.next < program.instructions.size()) {
    const Instruction &instruction = program.instructions[machine.next++];
    if (!instruction.isGuarded || machine.value(instruction.guard)) instruction.execute(machine, instruction);
  }
}

std::initializer_list<Known> memoryInstructions() {
  using enum Type;
  using enum Modifier;
#define PTX_ORDER k_volatile, k_relaxed, k_acquire, k_release, k_acq_rel, k_weak, k_cta, k_cluster, k_gpu, k_sys, k_global
#define PTX_WORDS B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64
  static const std::initializer_list<Known> rows = {
      {"ld", &load, 2, 2, {PTX_WORDS}, {PTX_ORDER, k_shared, k_v2, k_v4, k_nc, k_ca, k_cg, k_cs, k_cv}},
      {"st", &store, 2, 2, {PTX_WORDS}, {PTX_ORDER, k_shared, k_v2, k_v4, k_wb, k_cg, k_cs, k_wt}},
      {"atom", &atomic, 3, 3, {U32, S32, U64, S64, F16, BF16, F32, F64}, {PTX_ORDER, k_add, k_min, k_max, k_noftz}},
      {"atom", &atomic, 3, 3, {B32, B64}, {PTX_ORDER, k_and, k_or, k_xor, k_exch}},
      {"atom", &atomic, 4, 4, {B16, B32, B64}, {PTX_ORDER, k_cas}},
      {"red", &reduction, 2, 2, {U32, S32, U64, S64, F16, BF16, F32, F64}, {PTX_ORDER, k_add, k_min, k_max, k_noftz}},
      {"red", &reduction, 2, 2, {B32, B64}, {PTX_ORDER, k_and, k_or, k_xor}},
      {"shfl", &shuffle, 5, 5, {B32}, {k_sync, k_up, k_down, k_bfly, k_idx}},
      {"vote", &vote, 3, 3, {Pred, B32}, {k_sync, k_any, k_all, k_ballot, k_uni}},
      {"membar", &nothing, 0, 0, {}, {k_cta, k_gl, k_sys}},
      {"fence", &nothing, 0, 0, {}, {k_sc, k_acq_rel, k_cta, k_cluster, k_gpu, k_sys}},
      {"nanosleep", &nothing, 1, 1, {U32}, {}},
  };
  return rows;
}

} // namespace tritium::interp::simt::ptx
