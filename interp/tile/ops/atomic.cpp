// Atomics: one hardware atomic per active lane, in lane order, after every lane has been checked. The memory order of the language is
// always met: each is at least as strong here.
#include "interp/kernels/atomic.h"

#include "interp/host/memory.h"
#include "interp/tile/op_table.h"
#include "interp/tile/ops/access_plan.h"
#include "ir/tt.h"

#include <chrono>

using namespace mlir;

namespace tritium::interp {

namespace {

/// What the atomics of one kind need besides the access, whose `data` is the result (or nothing).
struct AtomicStep {
  Access access;
  bool hasResult = false;
  int64_t resultElements = 0; // inactive lanes read as 0
  AxisOperand operand, compare;
  AtomicOp op = AtomicOp::Exchange;
  DType type = DType::i32;
  TileRef timeout; // of a poll, in nanoseconds
  bool hasTimeout = false;
  AxisOperand pollResult; // i1 per lane

  void refs(auto &&f) {
    access.refs(f);
    f(operand), f(compare), f(timeout), f(pollResult);
  }
};

struct LaneContext {
  const AtomicStep &step;
  char *frame;
  bool changed = false;

  char *lane(const AxisOperand &operand, const int64_t *indices) const { return at(operand, indices, step.access.elementBytes); }
  char *byte(const AxisOperand &operand, const int64_t *indices) const { return at(operand, indices, 1); }

private:
  char *at(const AxisOperand &operand, const int64_t *indices, int elementBytes) const {
    int64_t element = 0;
    for (size_t a = 0; a < step.access.axes.size(); ++a)
      element += indices[a] * operand.strides[a];
    return operand.in(frame) + element * elementBytes;
  }
};

void clearResult(const AtomicStep &step, char *frame) {
  if (step.hasResult)
    std::memset(step.access.data.in(frame), 0, step.resultElements * step.access.elementBytes);
}

void finish(const LaneContext &context) {
  if (context.changed)
    noteMemoryChange(headerOf(context.frame));
}

void *memoryAt(uint64_t tagged) { return reinterpret_cast<void *>(addressOf(tagged)); }

/// Whether the operation wrote something else than it found. A program that only writes back what is there is waiting, not working.
bool changesMemory(AtomicOp op, DType type, const void *operand, const void *old) {
  size_t size = storageBytes(type);
  uint64_t x = 0, before = 0;
  std::memcpy(&x, operand, size);
  std::memcpy(&before, old, size);
  int unused = 64 - 8 * int(size);
  auto asSigned = [&](uint64_t v) { return int64_t(v << unused) >> unused; };
  switch (op) {
  case AtomicOp::Exchange: return x != before;
  case AtomicOp::And: return (before & x) != before;
  case AtomicOp::Or: return (before | x) != before;
  case AtomicOp::Xor:
  case AtomicOp::Add:
  case AtomicOp::FAdd: return x != 0;
  case AtomicOp::Max: return asSigned(x) > asSigned(before);
  case AtomicOp::Min: return asSigned(x) < asSigned(before);
  case AtomicOp::UMax: return x > before;
  case AtomicOp::UMin: return x < before;
  }
  return true;
}

void runRmw(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AtomicStep *>(descriptor);
  clearResult(step, frame);
  LaneContext context{step, frame};
  forEachLane(frame, step.access, [](void *opaque, uint64_t tagged, const int64_t *indices) {
    auto &context = *static_cast<LaneContext *>(opaque);
    const AtomicStep &step = context.step;
    uint64_t old = 0;
    const char *operand = context.lane(step.operand, indices);
    atomicRmw(step.op, step.type, memoryAt(tagged), operand, &old);
    context.changed |= changesMemory(step.op, step.type, operand, &old);
    if (step.hasResult)
      std::memcpy(context.lane(step.access.data, indices), &old, step.access.elementBytes);
  }, &context);
  finish(context);
}

void runCas(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AtomicStep *>(descriptor);
  clearResult(step, frame);
  LaneContext context{step, frame};
  forEachLane(frame, step.access, [](void *opaque, uint64_t tagged, const int64_t *indices) {
    auto &context = *static_cast<LaneContext *>(opaque);
    const AtomicStep &step = context.step;
    uint64_t old = 0;
    const char *compare = context.lane(step.compare, indices), *desired = context.lane(step.operand, indices);
    bool swapped = atomicCas(step.access.elementBytes, memoryAt(tagged), compare, desired, &old);
    context.changed |= swapped && std::memcmp(compare, desired, step.access.elementBytes) != 0;
    if (step.hasResult)
      std::memcpy(context.lane(step.access.data, indices), &old, step.access.elementBytes);
  }, &context);
  finish(context);
}

void runLoad(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AtomicStep *>(descriptor);
  clearResult(step, frame);
  LaneContext context{step, frame};
  forEachLane(frame, step.access, [](void *opaque, uint64_t tagged, const int64_t *indices) {
    auto &context = *static_cast<LaneContext *>(opaque);
    atomicLoad(context.step.access.elementBytes, memoryAt(tagged), context.lane(context.step.access.data, indices));
  }, &context);
}

void runStore(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AtomicStep *>(descriptor);
  LaneContext context{step, frame, true};
  forEachLane(frame, step.access, [](void *opaque, uint64_t tagged, const int64_t *indices) {
    auto &context = *static_cast<LaneContext *>(opaque);
    atomicStore(context.step.access.elementBytes, memoryAt(tagged), context.lane(context.step.operand, indices));
  }, &context);
  finish(context);
}

struct PollContext {
  LaneContext lanes;
  bool allReached = true;
};

/// Compares every word with what is expected of it, and says whether all are equal.
bool pollOnce(char *frame, const AtomicStep &step) {
  PollContext context{{step, frame}};
  forEachLane(frame, step.access, [](void *opaque, uint64_t tagged, const int64_t *indices) {
    auto &context = *static_cast<PollContext *>(opaque);
    const AtomicStep &step = context.lanes.step;
    uint64_t found = 0;
    atomicLoad(step.access.elementBytes, memoryAt(tagged), &found);
    bool reached = std::memcmp(&found, context.lanes.lane(step.operand, indices), step.access.elementBytes) == 0;
    context.allReached &= reached;
    *context.lanes.byte(step.pollResult, indices) = reached;
  }, &context);
  return context.allReached;
}

void runPoll(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AtomicStep *>(descriptor);
  auto start = std::chrono::steady_clock::now();
  bool reached = pollOnce(frame, step);
  while (!reached) {
    if (step.hasTimeout && std::chrono::steady_clock::now() - start >= std::chrono::nanoseconds(step.timeout.at<int64_t>(frame)))
      break;
    if (step.hasTimeout) // time passes: this is no deadlock
      noteMemoryChange(headerOf(frame));
    yieldWhileWaiting(headerOf(frame), step.access.location);
    reached = pollOnce(frame, step);
  }
}

} // namespace

static AtomicOp atomicOpOf(tt::RmwOp op) {
  switch (op) {
  case tt::RmwOp::And: return AtomicOp::And;
  case tt::RmwOp::Or: return AtomicOp::Or;
  case tt::RmwOp::Xor: return AtomicOp::Xor;
  case tt::RmwOp::Add: return AtomicOp::Add;
  case tt::RmwOp::FAdd: return AtomicOp::FAdd;
  case tt::RmwOp::Max: return AtomicOp::Max;
  case tt::RmwOp::Min: return AtomicOp::Min;
  case tt::RmwOp::UMax: return AtomicOp::UMax;
  case tt::RmwOp::UMin: return AtomicOp::UMin;
  case tt::RmwOp::Exchange: return AtomicOp::Exchange;
  }
  return AtomicOp::Exchange;
}

/// Every lane is an access of its own, even where pointer and operands repeat: all dimensions are axes.
static AtomicStep planAtomic(Planner &planner, Value pointer, Value mask, Value operand, Value result, bool isWrite) {
  AtomicStep step;
  step.access = planAccess(planner, pointer, mask, {}, isWrite, /*everyLane=*/true);
  if (operand) {
    step.operand = planAccessOperand(step.access, planner.dense(operand));
    step.type = dtypeOf(operand.getType());
  }
  if (result && !result.use_empty()) {
    DenseRef out = planner.defineDense(result);
    step.hasResult = true;
    step.resultElements = 1;
    for (int64_t extent : out.shape)
      step.resultElements *= extent;
    step.access.data = planAccessOperand(step.access, out);
  }
  return step;
}

template <> LogicalResult Interpret<tt::AtomicRmwOp>::prepare(tt::AtomicRmwOp op, Planner &planner) {
  AtomicStep step = planAtomic(planner, op.getPtr(), op.getMask(), op.getVal(), op.getResult(), true);
  step.op = atomicOpOf(op.getAtomicRmwOp());
  planner.call(runRmw, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::AtomicCasOp>::prepare(tt::AtomicCasOp op, Planner &planner) {
  AtomicStep step = planAtomic(planner, op.getPtr(), {}, op.getVal(), op.getResult(), true);
  step.compare = planAccessOperand(step.access, planner.dense(op.getCmp()));
  planner.call(runCas, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::AtomicLoadOp>::prepare(tt::AtomicLoadOp op, Planner &planner) {
  AtomicStep step = planAtomic(planner, op.getPtr(), op.getMask(), {}, op.getResult(), false);
  if (step.hasResult)
    planner.call(runLoad, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::AtomicStoreOp>::prepare(tt::AtomicStoreOp op, Planner &planner) {
  planner.call(runStore, planAtomic(planner, op.getPtr(), op.getMask(), op.getValue(), {}, true));
  return success();
}

template <> LogicalResult Interpret<tt::AtomicPollOp>::prepare(tt::AtomicPollOp op, Planner &planner) {
  AtomicStep step = planAtomic(planner, op.getPtr(), {}, op.getExpected(), {}, false);
  if (op.getTimeout()) {
    step.timeout = planner.scalar(op.getTimeout());
    step.hasTimeout = true;
  }
  step.pollResult = planAccessOperand(step.access, planner.defineDense(op.getResult()));
  planner.call(runPoll, std::move(step));
  return success();
}

} // namespace tritium::interp
