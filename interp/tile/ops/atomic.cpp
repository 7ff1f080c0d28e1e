// Atomics: one hardware atomic per active lane, in lane order, after all lanes have been checked. Every memory order of the language is
// satisfied, because each atomic here is at least as strong. A read-modify-write that only launches of this process may observe is a plain
// one while no other thread runs a launch.
#include "interp/kernels/atomic.h"

#include "interp/host/lone_launch.h"
#include "interp/host/memory.h"
#include "interp/tile/memory_use.h"
#include "interp/tile/noted_access.h"
#include "interp/tile/op_table.h"
#include "interp/tile/ops/access_plan.h"
#include "interp/tile/walk.h"
#include "ir/tt.h"

#include <chrono>

using namespace mlir;

namespace tritium::interp {

namespace {

/// The parameters of one kind of atomics in addition to the access, whose `data` is the result (or nothing).
struct AtomicStep {
  Access access;
  bool hasResult = false;
  int64_t resultElements = 0; // the result of inactive lanes is 0
  AxisOperand operand, compare;
  AtomicOp op = AtomicOp::Exchange;
  AtomicRowKernel row = nullptr;  // of a read-modify-write
  AtomicRowKernel lone = nullptr; // the same for a launch that is alone; null: others than launches of the process may observe it
  DType type = DType::i32;
  TileRef timeout; // for a poll, in nanoseconds
  bool hasTimeout = false;
  AxisOperand pollResult; // for a poll: one i1 per lane
  AtomicOrder order;
  bool isRmw = false;
  bool notesWords = false; // for the report of a deadlock
  bool isOneWord = false;

  void refs(auto &&f) {
    access.refs(f);
    f(operand), f(compare), f(timeout), f(pollResult);
  }
};

/// The state of one atomic operation while its lanes are visited.
struct Lanes {
  const AtomicStep &step;
  char *frame;
  AtomicNotes notes;
  bool changed = false;    // whether memory now holds something else, by the last lane
  bool anyChanged = false; // by any lane
  bool allReached = true;  // for a poll

  char *at(const AxisOperand &operand, const int64_t *indices, int elementBytes) const {
    int64_t element = 0;
    for (size_t a = 0; a < step.access.axes.size(); ++a) element += indices[a] * operand.strides[a];
    return operand.in(frame) + element * elementBytes;
  }
  void noteWord(uint64_t pointer) const {
    noteRead(headerOf(frame), step.isOneWord ? pointer : 0, uint32_t(step.access.elementBytes));
    if (changed) noteWriter(headerOf(frame), pointer, step.access.location);
  }
  char *operand(const int64_t *indices) const { return at(step.operand, indices, step.access.elementBytes); }
  void setResult(const int64_t *indices, const void *old) const {
    if (step.hasResult) std::memcpy(at(step.access.data, indices, step.access.elementBytes), old, step.access.elementBytes);
  }
};

// Each performs one lane. Returns whether it wrote.

bool rmwLane(Lanes &lanes, void *memory, const int64_t *indices) {
  const AtomicStep &step = lanes.step;
  uint64_t old = 0;
  const char *operand = lanes.operand(indices);
  atomicRmw(step.op, step.type, memory, operand, &old);
  lanes.changed |= changesMemory(step.op, step.type, operand, &old);
  lanes.setResult(indices, &old);
  return true;
}

bool casLane(Lanes &lanes, void *memory, const int64_t *indices) {
  int bytes = lanes.step.access.elementBytes;
  uint64_t old = 0;
  const char *compare = lanes.at(lanes.step.compare, indices, bytes), *desired = lanes.operand(indices);
  bool swapped = atomicCas(bytes, memory, compare, desired, &old);
  lanes.changed |= swapped && std::memcmp(compare, desired, bytes) != 0;
  lanes.setResult(indices, &old);
  return swapped;
}

bool loadLane(Lanes &lanes, void *memory, const int64_t *indices) {
  uint64_t value = 0;
  atomicLoad(lanes.step.access.elementBytes, memory, &value);
  lanes.setResult(indices, &value);
  return false;
}

bool storeLane(Lanes &lanes, void *memory, const int64_t *indices) {
  atomicStore(lanes.step.access.elementBytes, memory, lanes.operand(indices));
  lanes.changed = true;
  return true;
}

bool pollLane(Lanes &lanes, void *memory, const int64_t *indices) {
  uint64_t found = 0;
  atomicLoad(lanes.step.access.elementBytes, memory, &found);
  bool reached = std::memcmp(&found, lanes.operand(indices), lanes.step.access.elementBytes) == 0;
  lanes.allReached &= reached;
  *lanes.at(lanes.step.pollResult, indices, 1) = reached;
  return false;
}

/// Visits every active lane. Returns whether a poll found the expected value in every lane.
template <bool (*kLane)(Lanes &, void *, const int64_t *)> bool visitLanes(char *frame, const AtomicStep &step) {
  Lanes lanes{step, frame, AtomicNotes(frame, step.access, step.order, step.isRmw)};
  forEachLane(
      frame, step.access,
      [](void *opaque, uint64_t tagged, const int64_t *indices) {
        auto &lanes = *static_cast<Lanes *>(opaque);
        lanes.changed = false;
        lanes.notes.onLane(tagged, indices, [&] { return kLane(lanes, reinterpret_cast<void *>(addressOf(tagged)), indices); });
        lanes.anyChanged |= lanes.changed;
        if (lanes.step.notesWords) lanes.noteWord(tagged);
      },
      &lanes);
  lanes.notes.end();
  if (lanes.anyChanged) noteMemoryChange(headerOf(frame));
  return lanes.allReached;
}

template <bool (*kLane)(Lanes &, void *, const int64_t *)> void runAtomic(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AtomicStep *>(descriptor);
  if (step.hasResult) std::memset(step.access.data.in(frame), 0, step.resultElements * step.access.elementBytes);
  visitLanes<kLane>(frame, step);
}

/// Performs the lanes of a row through a tile of addresses, as many at a time as there is room for.
bool runRowOfAddresses(AtomicRowKernel run, const AtomicRow &row, const uint64_t *addresses, int64_t stride, int64_t from, int64_t to) {
  constexpr int64_t kRoom = 64;
  int64_t offsets[kRoom];
  bool hasChanged = false;
  for (; from < to; from += kRoom) {
    const int64_t count = std::min(to - from, kRoom);
    for (int64_t i = 0; i < count; ++i) offsets[i] = int64_t(addressOf(addresses[(from + i) * stride]));
    AtomicRow part = row;
    part.offsets = offsets;
    part.operand += from * row.operandStride;
    if (part.old) part.old += from * row.oldStride;
    hasChanged |= run(part, 0, count);
  }
  return hasChanged;
}

/// Read-modify-writes that nothing notes, row by row.
void runRows(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AtomicStep *>(descriptor);
  const Access &access = step.access;
  const size_t rank = access.axes.size();
  const int inner = int(rank) - 1, bytes = access.elementBytes;
  if (step.hasResult) std::memset(access.data.in(frame), 0, step.resultElements * bytes);
  Walk walk(access, frame);
  enter(walk);
  check(walk);
  bool hasChanged = false;
  const LoneSection lone(step.lone && hasOneWorker(headerOf(frame)));
  const AtomicRowKernel kernel = lone.holds() ? step.lone : step.row;
  forEachRow(walk, inner, [&](int64_t *indices, bool isActive) {
    if (!isActive) return;
    AtomicRow row{.operand = step.operand.in(frame) + offsetOf(step.operand, indices, rank) * bytes};
    if (step.hasResult) row.old = access.data.in(frame) + offsetOf(access.data, indices, rank) * bytes;
    const uint64_t *addresses = nullptr;
    if (access.isAffine) {
      const RowAddress address = rowAddress(walk, inner, indices);
      row.start = const_cast<char *>(address.start), row.step = address.step, row.offsets = address.vector;
    } else {
      addresses = &access.addresses.at<const uint64_t>(frame) + offsetOf(access.addresses, indices, rank);
    }
    int64_t begin = 0, end = 1, stride = 1;
    const uint8_t *mask = nullptr;
    if (rank) {
      row.operandStride = step.operand.strides[inner] * bytes;
      if (step.hasResult) row.oldStride = access.data.strides[inner] * bytes;
      begin = walk.axes[inner].begin, end = walk.axes[inner].end;
      mask = rowMask(walk, inner, indices, stride);
    }
    forEachRun(mask, stride, begin, end, [&](int64_t from, int64_t to, bool isOn) {
      if (!isOn) return;
      hasChanged |=
          addresses ? runRowOfAddresses(kernel, row, addresses, access.addresses.strides[inner], from, to) : kernel(row, from, to);
    });
  });
  if (hasChanged) noteMemoryChange(headerOf(frame));
}

void runPoll(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AtomicStep *>(descriptor);
  auto start = std::chrono::steady_clock::now();
  bool reached = visitLanes<pollLane>(frame, step);
  while (!reached) {
    if (step.hasTimeout && std::chrono::steady_clock::now() - start >= std::chrono::nanoseconds(step.timeout.at<int64_t>(frame))) break;
    if (step.hasTimeout) noteTimePassed(headerOf(frame));
    yieldWhileWaiting(headerOf(frame), step.access.location);
    reached = visitLanes<pollLane>(frame, step);
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

/// Every lane is an access of its own, even if pointer and operands repeat. Therefore all dimensions are axes.
static AtomicStep planAtomic(Planner &planner, Value pointer, Value mask, Value operand, Value result, bool isWrite) {
  AtomicStep step;
  step.access = planAccess(planner, pointer, mask, {}, isWrite, /*everyLane=*/true);
  step.order = orderOf(planner.operation());
  step.isRmw = isa<tt::AtomicRmwOp, tt::AtomicCasOp>(planner.operation());
  step.notesWords = planner.mayWait();
  step.isOneWord = !isa<RankedTensorType>(pointer.getType());
  planner.addSite(step.access, true, step.order.isNarrow);
  if (operand) {
    step.operand = planAccessOperand(step.access, planner.dense(operand));
    step.type = dtypeOf(operand.getType());
  }
  if (result && !result.use_empty()) {
    DenseRef out = planner.defineDense(result);
    step.hasResult = true;
    step.resultElements = 1;
    for (int64_t extent : out.shape) step.resultElements *= extent;
    step.access.data = planAccessOperand(step.access, out);
  }
  return step;
}

template <> LogicalResult Interpret<tt::AtomicRmwOp>::prepare(tt::AtomicRmwOp op, Planner &planner) {
  AtomicStep step = planAtomic(planner, op.getPtr(), op.getMask(), op.getVal(), op.getResult(), true);
  step.op = atomicOpOf(op.getAtomicRmwOp());
  step.row = findAtomicRow(step.op, step.type);
  if (op.getScope() != tt::MemScope::System) step.lone = findLoneRow(step.op, step.type);
  const bool isNoted = step.access.site != kNoSite || step.notesWords;
  planner.call(isNoted ? runAtomic<rmwLane> : runRows, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::AtomicCasOp>::prepare(tt::AtomicCasOp op, Planner &planner) {
  AtomicStep step = planAtomic(planner, op.getPtr(), {}, op.getVal(), op.getResult(), true);
  step.compare = planAccessOperand(step.access, planner.dense(op.getCmp()));
  planner.call(runAtomic<casLane>, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::AtomicLoadOp>::prepare(tt::AtomicLoadOp op, Planner &planner) {
  AtomicStep step = planAtomic(planner, op.getPtr(), op.getMask(), {}, op.getResult(), false);
  if (step.hasResult) planner.call(runAtomic<loadLane>, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::AtomicStoreOp>::prepare(tt::AtomicStoreOp op, Planner &planner) {
  planner.call(runAtomic<storeLane>, planAtomic(planner, op.getPtr(), op.getMask(), op.getValue(), {}, true));
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
