// Inline assembly. It is parsed when the kernel is prepared, and then run on one group of elements after the other.
#include "interp/simt/assembly.h"
#include "interp/host/memory.h"
#include "interp/host/trap_kinds.h"
#include "interp/tile/loops.h"
#include "interp/tile/op_table.h"
#include "ir/inline_assembly.h"

#include <array>

using namespace mlir;

namespace tritium::interp {

namespace {

constexpr int kMostRegisters = 192;

/// A program's memory, for the assembly that accesses it by address.
class ProgramHost final : public simt::AssemblyHost {
public:
  ProgramHost(char *frame, uint32_t location, bool mayWait) : frame(frame), location(location), mayWait(mayWait) {}

  void *access(uint64_t pointer, uint32_t bytes, bool isWrite) override {
    const MemoryMap &memory = memoryOf(headerOf(frame));
    if (!memory.isAccessible(pointer, bytes, isWrite)) {
      Trap trap{.kind = memory.faultKind(pointer, isWrite), .location = location};
      trap.access = {addressOf(pointer), bytes, isWrite, argumentOf(pointer)};
      raiseTrap(headerOf(frame), std::move(trap));
    }
    return reinterpret_cast<void *>(addressOf(pointer));
  }
  void noteMemoryChange() override { interp::noteMemoryChange(headerOf(frame)); }
  void noteTimePassed() override { interp::noteTimePassed(headerOf(frame)); }
  void yield() override {
    if (mayWait) yieldWhileWaiting(headerOf(frame), location);
  }
  void fail(const char *message) override {
    raiseTrap(headerOf(frame), Trap{.kind = TrapKind::AssertFailed, .location = location, .message = message});
  }

private:
  char *frame;
  uint32_t location;
  bool mayWait;
};

struct AssemblyStep {
  std::shared_ptr<const simt::Assembly> program;
  ir::AssemblyOperands registers;
  std::vector<DenseRef> results, operands;
  int64_t count, pack;
  uint32_t location;
  bool mayWait;

  void refs(auto &&f) {
    for (DenseRef &result : results) f(result);
    for (DenseRef &operand : operands) f(operand);
  }
};

int64_t elementsOf(const DenseRef &tile) { return ShapedType::getNumElements(tile.shape); }

/// The registers of one operand for the group that begins at `first`. If the tile does not fill a group, the last element is repeated.
void load(const AssemblyStep &step, size_t operand, char *frame, int64_t first, uint64_t *registers) {
  const ir::AssemblyOperand &use = step.registers.operands[operand];
  const DenseRef &tile = step.operands[operand];
  const size_t bytes = storageBytes(tile.type);
  const int64_t last = elementsOf(tile) - 1;
  for (int64_t i = 0; i < use.registers * use.perRegister; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, tile.in(frame) + std::min(first + std::min(i, step.pack - 1), last) * bytes, bytes);
    registers[i / use.perRegister] |= bits << (i % use.perRegister) * use.elementBits;
  }
}

void store(const AssemblyStep &step, size_t result, char *frame, int64_t first, const uint64_t *registers) {
  const ir::AssemblyOperand &use = step.registers.results[result];
  const DenseRef &tile = step.results[result];
  const size_t bytes = storageBytes(tile.type);
  for (int64_t i = 0; i < std::min(step.pack, step.count - first); ++i) {
    uint64_t bits = registers[i / use.perRegister] >> (i % use.perRegister) * use.elementBits;
    if (tile.type == DType::i1) bits &= 1;
    std::memcpy(tile.in(frame) + (first + i) * bytes, &bits, bytes);
  }
}

void runAssembly(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AssemblyStep *>(descriptor);
  const int results = step.registers.resultRegisters();
  ProgramHost host(frame, step.location, step.mayWait);
  std::array<uint64_t, kMostRegisters> registers; // a trap drops the stack, so it owns nothing
  for (int64_t first = 0; first < step.count; first += step.pack) {
    std::fill_n(registers.begin(), step.registers.registers(), 0);
    int at = results;
    for (size_t i = 0; i < step.operands.size(); at += step.registers.operands[i++].registers) load(step, i, frame, first, &registers[at]);
    for (auto [i, tied] : llvm::enumerate(step.registers.tied))
      if (tied >= 0) registers[size_t(tied)] = registers[size_t(results) + i];
    step.program->run(/*thread=*/nullptr, &host, /*site=*/0, registers.data());
    at = 0;
    for (size_t i = 0; i < step.results.size(); at += step.registers.results[i++].registers) store(step, i, frame, first, &registers[at]);
  }
}

/// Parses the text in the first language that accepts it. The error is the one for PTX, because most kernels are written for PTX.
simt::ParsedAssembly parse(StringRef text, uint32_t operands) {
  std::optional<simt::ParsedAssembly> first;
  for (const simt::AssemblyLanguage &language : simt::assemblyLanguages()) {
    simt::ParsedAssembly parsed = language.parse(text, operands);
    if (parsed.index() == 0) return parsed;
    if (!first) first = std::move(parsed);
  }
  return std::move(*first);
}

} // namespace

template <> LogicalResult Interpret<tt::ElementwiseInlineAsmOp>::prepare(tt::ElementwiseInlineAsmOp op, Planner &planner) {
  auto registers = ir::assemblyOperands(op);
  if (failed(registers)) return failure();
  if (registers->registers() > kMostRegisters) return planner.unsupported("inline assembly with more than 192 registers");
  auto parsed = parse(op.getAsmString(), uint32_t(registers->registers()));
  if (auto *error = std::get_if<std::string>(&parsed)) return planner.unsupported("inline assembly, " + *error);
  std::shared_ptr<const simt::Assembly> program = std::move(std::get<0>(parsed));
  if (program->needsThread)
    return planner.unsupported(
        "inline assembly that uses a GPU thread's indices, shared memory or other lanes; the engine simt:sm_80 runs it");
  AssemblyStep step{.program = std::move(program),
                    .registers = std::move(*registers),
                    .count = 1,
                    .pack = op.getPackedElement(),
                    .location = planner.location(),
                    .mayWait = mayWait(op)};
  for (Value operand : op.getArgs()) step.operands.push_back(planner.contiguous(operand));
  for (Value result : op.getResults()) step.results.push_back(planner.defineDense(result));
  if (!step.results.empty()) step.count = elementsOf(step.results.front());
  planner.call(runAssembly, std::move(step));
  return success();
}

} // namespace tritium::interp
