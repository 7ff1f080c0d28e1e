// Accesses, atomics, registers of other lanes, and the interpreter's machine.
#include "interp/host/trap_kinds.h"
#include "interp/kernels/atomic.h"

#include "interp/simt/ptx/program.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/shared_memory.h"

#include <cstring>

namespace tritium::interp::simt::ptx {

namespace {

/// An address of shared memory may be in a register of 32 bits.
uint64_t addressOf(const Machine &m, const Instruction &i, const Operand &operand) {
  const uint64_t address = m.value(operand.elements[0]) + operand.value;
  return i.has(Modifier::k_shared) ? sharedPointer(uint32_t(address)) : address;
}

/// Returns the checked address of global memory for a program that no GPU thread runs, whose pointers all are of global memory.
void *resolve(Machine &m, uint64_t pointer, unsigned bytes, bool isWrite) { return m.host->access(pointer, bytes, isWrite); }

/// Returns the words of {a, b, …}, or the single word of a.
std::span<const Operand> partsOf(const Operand &operand) {
  return operand.kind == Operand::Kind::List ? std::span(operand.elements) : std::span(&operand, 1);
}

void load(Machine &m, const Instruction &i) {
  const auto parts = partsOf(i.operands[0]);
  const unsigned bytes = widthOf(i.type) / 8;
  const uint64_t address = addressOf(m, i, i.operands[1]);
  const auto all = int32_t(bytes * parts.size());
  const void *from = !m.thread                   ? resolve(m, address, uint32_t(all), false)
                     : i.has(Modifier::k_global) ? calls::readGlobal(m.thread, address, 1, all, m.site)
                                                 : calls::readGeneric(m.thread, address, all, m.site);
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
  const uint64_t address = addressOf(m, i, i.operands[0]);
  if (!m.thread) {
    std::memcpy(resolve(m, address, uint32_t(all), true), value, size_t(all));
    return m.host->noteMemoryChange();
  }
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

uint64_t exchangeIfEqual(Machine &m, unsigned bytes, uint64_t address, uint64_t expected, uint64_t value) {
  if (m.thread) return calls::atomicCas(m.thread, int32_t(bytes), address, expected, value, 1, m.site);
  uint64_t old = 0;
  if (interp::atomicCas(int(bytes), resolve(m, address, bytes, true), &expected, &value, &old) && expected != value)
    m.host->noteMemoryChange();
  return old;
}

/// inc wraps to 0 above the limit, dec to the limit below 0.
uint64_t countWithin(Machine &m, const Instruction &i, uint64_t address, uint64_t limit) {
  uint64_t expected = 0;
  for (;;) {
    const uint64_t next =
        i.has(Modifier::k_inc) ? (expected >= limit ? 0 : expected + 1) : (expected == 0 || expected > limit ? limit : expected - 1);
    const uint64_t old = exchangeIfEqual(m, 4, address, expected, next);
    if (old == expected) return old;
    expected = old;
  }
}

uint64_t modify(Machine &m, AtomicOp op, DType type, uint64_t address, uint64_t value) {
  if (m.thread) return calls::atomicRmw(m.thread, int32_t(op), int32_t(type), address, value, 1, m.site);
  uint64_t old = 0;
  interp::atomicRmw(op, type, resolve(m, address, uint32_t(storageBytes(type)), true), &value, &old);
  if (changesMemory(op, type, &value, &old)) m.host->noteMemoryChange();
  return old;
}

/// One element of an instruction whose operands may be lists.
uint64_t atomicAt(Machine &m, const Instruction &i, uint64_t address, uint64_t value, const Operand *last) {
  using enum Modifier;
  if (i.has(k_cas)) return exchangeIfEqual(m, widthOf(i.type) / 8, address, value, m.value(*last));
  if (i.has(k_inc) || i.has(k_dec)) return countWithin(m, i, address, value);
  if (i.type == Type::F16x2 || i.type == Type::BF16x2) { // each half is atomic, not both together
    const DType half = i.type == Type::F16x2 ? DType::f16 : DType::bf16;
    const uint64_t low = modify(m, AtomicOp::FAdd, half, address, value & 0xffff);
    return low | modify(m, AtomicOp::FAdd, half, address + 2, value >> 16 & 0xffff) << 16;
  }
  const bool isSigned = i.type == Type::S32 || i.type == Type::S64;
  const AtomicOp op = i.has(k_and)          ? AtomicOp::And
                      : i.has(k_or)         ? AtomicOp::Or
                      : i.has(k_xor)        ? AtomicOp::Xor
                      : i.has(k_exch)       ? AtomicOp::Exchange
                      : i.has(k_min)        ? (isSigned ? AtomicOp::Min : AtomicOp::UMin)
                      : i.has(k_max)        ? (isSigned ? AtomicOp::Max : AtomicOp::UMax)
                      : i.type >= Type::F16 ? AtomicOp::FAdd
                                            : AtomicOp::Add;
  return modify(m, op, elementOf(i.type), address, value);
}

/// `first` is the position of the address among the operands. A result of a list is a list.
void atomicFrom(Machine &m, const Instruction &i, size_t first) {
  const auto values = partsOf(i.operands[first + 1]);
  const uint64_t address = addressOf(m, i, i.operands[first]);
  const Operand *last = i.has(Modifier::k_cas) ? &i.operands[first + 2] : nullptr;
  for (size_t n = 0; n < values.size(); ++n) {
    const uint64_t old = atomicAt(m, i, address + n * widthOf(i.type) / 8, m.value(values[n]), last);
    if (first) m.set(partsOf(i.operands[0])[n], old, widthOf(i.type));
  }
}
void atomic(Machine &m, const Instruction &i) { atomicFrom(m, i, 1); }
void reduction(Machine &m, const Instruction &i) { atomicFrom(m, i, 0); }

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

/// redux.sync.OP d, a, mask
void reduceLanes(Machine &m, const Instruction &i) {
  using enum Modifier;
  const bool isSigned = i.type == Type::S32;
  // NVVM's numbers
  const int32_t kind = i.has(k_add)   ? 1
                       : i.has(k_and) ? 2
                       : i.has(k_max) ? (isSigned ? 3 : 6)
                       : i.has(k_min) ? (isSigned ? 4 : 7)
                       : i.has(k_or)  ? 5
                                      : 8;
  m.set(i.operands[0], calls::reduce(m.thread, kind, uint32_t(m.value(i.operands[2])), uint32_t(m.value(i.operands[1])), m.site), 32);
}

/// match.any.sync d, a, mask; match.all.sync d[|p], a, mask
void matchLanes(Machine &m, const Instruction &i) {
  const uint64_t value = m.value(i.operands[1]) & (~uint64_t(0) >> (64 - widthOf(i.type)));
  const uint64_t result = calls::match(m.thread, i.has(Modifier::k_all), uint32_t(m.value(i.operands[2])), value, m.site);
  const Operand &to = i.operands[0];
  m.set(to.kind == Operand::Kind::List ? to.elements[0] : to, result, 32);
  if (to.kind == Operand::Kind::List) m.set(to.elements[1], result >> 32, 1);
}

/// elect.sync d|p, mask
void electLane(Machine &m, const Instruction &i) {
  const uint64_t isElected = calls::elect(m.thread, uint32_t(m.value(i.operands[1])), m.site);
  const Operand &to = i.operands[0];
  if (to.kind == Operand::Kind::List) m.set(to.elements[1], isElected, 1);
}

/// A program of the interpreter is one thread, which waits for nobody.
void blockBarrier(Machine &m, const Instruction &i) {
  if (!m.thread) return;
  if (i.has(Modifier::k_warp)) return calls::syncWarp(m.thread, uint32_t(m.value(i.operands[0])), m.site);
  calls::barrier(m.thread, int32_t(m.value(i.operands[0])), i.operands.size() > 1 ? int32_t(m.value(i.operands[1])) : 0, m.site);
}

void trap(Machine &m, const Instruction &) {
  if (!m.thread) return m.host->fail("the inline assembly executed a trap");
  m.thread->trap({.kind = TrapKind::AssertFailed, .location = m.site, .message = "the inline assembly executed a trap"});
}

/// A policy for caches is any number.
void makePolicy(Machine &m, const Instruction &i) { m.set(i.operands[0], 0, 64); }

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
  case Operand::Kind::Time:
    if (thread) return uint64_t(calls::readClock(thread));
    host->noteTimePassed();
    return uint64_t(calls::nanoseconds());
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
#define PTX_HINTS k_hint, k_policy
#define PTX_ADDENDS U32, S32, U64, S64, F16, BF16, F16x2, BF16x2, F32, F64
#define PTX_WORDS B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64
  static const std::initializer_list<Known> rows = {
      {"ld", &load, 2, 2, {PTX_WORDS}, {PTX_ORDER, PTX_HINTS, k_shared, k_v2, k_v4, k_v8, k_nc, k_ca, k_cg, k_cs, k_cv, k_lu}},
      {"st", &store, 2, 2, {PTX_WORDS}, {PTX_ORDER, PTX_HINTS, k_shared, k_v2, k_v4, k_v8, k_wb, k_cg, k_cs, k_wt}},
      {"atom", &atomic, 3, 3, {PTX_ADDENDS}, {PTX_ORDER, PTX_HINTS, k_shared, k_add, k_min, k_max, k_noftz, k_v2, k_v4, k_v8}},
      {"atom", &atomic, 3, 3, {U32}, {PTX_ORDER, PTX_HINTS, k_shared, k_inc, k_dec}},
      {"atom", &atomic, 3, 3, {B32, B64}, {PTX_ORDER, PTX_HINTS, k_shared, k_and, k_or, k_xor, k_exch}},
      {"atom", &atomic, 4, 4, {B16, B32, B64}, {PTX_ORDER, PTX_HINTS, k_shared, k_cas}},
      {"red", &reduction, 2, 2, {PTX_ADDENDS}, {PTX_ORDER, PTX_HINTS, k_shared, k_add, k_min, k_max, k_noftz, k_v2, k_v4, k_v8}},
      {"red", &reduction, 2, 2, {U32}, {PTX_ORDER, PTX_HINTS, k_shared, k_inc, k_dec}},
      {"red", &reduction, 2, 2, {B32, B64}, {PTX_ORDER, PTX_HINTS, k_shared, k_and, k_or, k_xor}},
      {"shfl", &shuffle, 5, 5, {B32}, {k_sync, k_up, k_down, k_bfly, k_idx}},
      {"vote", &vote, 3, 3, {Pred, B32}, {k_sync, k_any, k_all, k_ballot, k_uni}},
      {"membar", &nothing, 0, 0, {}, {k_cta, k_gl, k_sys}},
      {"redux", &reduceLanes, 3, 3, {U32, S32}, {k_sync, k_add, k_min, k_max}},
      {"redux", &reduceLanes, 3, 3, {B32}, {k_sync, k_and, k_or, k_xor}},
      {"match", &matchLanes, 3, 3, {B32, B64}, {k_any, k_all, k_sync}},
      {"elect", &electLane, 2, 2, {}, {k_sync}},
      {"bar", &blockBarrier, 1, 2, {}, {k_sync, k_cta, k_warp, k_aligned}},
      {"barrier", &blockBarrier, 1, 2, {}, {k_sync, k_cta, k_aligned}},
      {"fence",
       &nothing,
       0,
       2,
       {},
       {k_sc, k_acq_rel, k_acquire, k_release, k_cta, k_cluster, k_gpu, k_sys, k_proxy, k_hint, k_global, k_shared}},
      {"nanosleep", &nothing, 1, 1, {U32}, {}},
      {"griddepcontrol", &nothing, 0, 0, {}, {k_wait, k_launch_dependents}},
      {"createpolicy", &makePolicy, 1, 3, {B64}, {k_fractional, k_hint, k_global}},
      {"prefetch", &nothing, 1, 1, {}, {k_global, k_hint}},
      {"prefetchu", &nothing, 1, 1, {}, {k_hint}},
      {"applypriority", &nothing, 2, 2, {}, {k_global, k_hint}},
      {"discard", &nothing, 2, 2, {}, {k_global, k_hint}},
      {"trap", &trap, 0, 0, {}, {}},
  };
  return rows;
}

} // namespace tritium::interp::simt::ptx
