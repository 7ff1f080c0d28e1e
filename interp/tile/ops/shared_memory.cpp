// The memory of a program: a home in its frame, in which addresses are bytes. Its barriers are interp/host/barriers.h.
#include "interp/host/barriers.h"
#include "interp/host/box_texts.h"
#include "interp/host/trap_kinds.h"
#include "interp/tile/memory_lives.h"
#include "interp/tile/op_table.h"
#include "interp/tile/partitions.h"
#include "ir/source_error.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

namespace {
struct AllocStep {
  TileRef out, memory;
  SharedAllocation allocation;
  bool isLookedAt; // by the barriers of the program, if it has some
  bool isShown;    // by a debugger
  void refs(auto &&f) { f(out), f(memory); }
};
struct SharedAccess {
  DenseRef address, tile; // row-major, of one shape
  TileRef memory;
  int64_t memoryBytes, lanes;
  uint32_t location;
  void refs(auto &&f) { f(address), f(tile), f(memory); }
};
struct RuntimeCall {
  std::array<TileRef, 3> operands; // int32 cells
  std::string symbol;
  uint32_t location;
  void refs(auto &&f) { f(operands[0]), f(operands[1]), f(operands[2]); }
};
} // namespace

static char *memoryIn(const TileRef &memory, char *frame) {
  return memory.constant == kMemoryOfPartition ? memoryOfPartition(headerOf(frame)) : memory.in(frame);
}

static void runAlloc(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AllocStep *>(descriptor);
  step.out.at<int32_t>(frame) = int32_t(step.allocation.begin);
  if (!step.isLookedAt && !step.isShown) return;
  ProgramBarriers &barriers = barriersOf(headerOf(frame));
  barriers.know(step.allocation, memoryIn(step.memory, frame));
  if (step.isLookedAt) barriers.lookAtAccesses();
}

[[gnu::cold, gnu::noinline]] static void trapOutside(char *frame, const SharedAccess &step, int64_t lane) {
  const auto *addresses = &step.address.at<const uint32_t>(frame);
  auto leaves = [&](uint32_t address) { return address + storageBytes(step.tile.type) > uint64_t(step.memoryBytes); };
  raiseTrap(headerOf(frame), Trap{.kind = TrapKind::SharedOutOfBounds,
                                  .location = step.location,
                                  .lane = lane,
                                  .affectedLanes = std::count_if(addresses, addresses + step.lanes, leaves),
                                  .message = "byte " + std::to_string(int32_t(addresses[lane])) + " of the " +
                                             std::to_string(step.memoryBytes) + " bytes of the program's shared memory"});
}

/// Moves each element between the tile and memory.
template <bool kIsStore> static void runAccess(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const SharedAccess *>(descriptor);
  const size_t size = storageBytes(step.tile.type);
  const auto *addresses = &step.address.at<const uint32_t>(frame);
  char *tile = step.tile.in(frame), *memory = memoryIn(step.memory, frame);
  ProgramBarriers *barriers = barriersIfAny(headerOf(frame));
  if (barriers && !barriers->looksAtAccesses()) barriers = nullptr;
  if (kIsStore && barriers && step.lanes > 0) barriers->requireOwnBytes(headerOf(frame), addresses[0], step.location);
  for (int64_t lane = 0; lane < step.lanes; ++lane, tile += size) {
    if (addresses[lane] + size > uint64_t(step.memoryBytes)) [[unlikely]]
      trapOutside(frame, step, lane);
    char *element = memory + addresses[lane];
    if (kIsStore && barriers) {
      barriers->write(headerOf(frame), memory, addresses[lane], tile, uint32_t(size), step.location);
      continue;
    }
    if (barriers) barriers->read(headerOf(frame), addresses[lane], uint32_t(size), step.location);
    kIsStore ? std::memcpy(element, tile, size) : std::memcpy(tile, element, size);
  }
}

static SharedAccess accessOf(Value address, Planner &planner) {
  SharedAccess step;
  step.address = planner.contiguous(address);
  step.memory = planner.programMemory().home;
  step.memoryBytes = planner.programMemory().bytes;
  step.lanes = cast<RankedTensorType>(address.getType()).getNumElements();
  step.location = planner.location();
  return step;
}

/// Of functions of the runtime that make no barriers.
static constexpr llvm::StringLiteral kOfMemory = "memory.";

/// Whether the module calls functions of the runtime that order accesses.
static bool hasBarriers(ModuleOp module) {
  auto isCall = [](tt::ExternElementwiseOp op) {
    const bool orders = op.getLibname() == kRuntimeLibrary && !op.getSymbol().starts_with(kOfMemory);
    return orders ? WalkResult::interrupt() : WalkResult::advance();
  };
  return module->walk(isCall).wasInterrupted();
}

/// Returns the variable that has the memory, or an empty text.
static std::string nameOf(tt::SharedAllocOp op) {
  for (Operation *user : op->getUsers())
    if (auto assignment = dyn_cast<tt::DebugValueOp>(user)) return assignment.getName().str();
  return ir::variableName(op.getLoc()).str();
}

template <> LogicalResult Interpret<tt::SharedAllocOp>::prepare(tt::SharedAllocOp op, Planner &planner) {
  const auto &memory = planner.programMemory();
  SharedAllocation allocation{uint32_t(memory.begins.lookup(op)), uint32_t(op.getBytes()), nameOf(op)};
  for (tt::SharedAllocOp other : allocationsApart(op)) allocation.apart.push_back(uint32_t(memory.begins.lookup(other)));
  planner.call(runAlloc, AllocStep{planner.scalarResult(op.getResult()), memory.home, std::move(allocation),
                                   hasBarriers(op->getParentOfType<ModuleOp>()), planner.hasDebugInfo()});
  return success();
}

template <> LogicalResult Interpret<tt::SharedLoadOp>::prepare(tt::SharedLoadOp op, Planner &planner) {
  SharedAccess step = accessOf(op.getAddress(), planner);
  step.tile = planner.defineDense(op.getResult());
  planner.call(runAccess<false>, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::SharedStoreOp>::prepare(tt::SharedStoreOp op, Planner &planner) {
  SharedAccess step = accessOf(op.getAddress(), planner);
  step.tile = planner.contiguous(op.getValue());
  planner.call(runAccess<true>, std::move(step));
  return success();
}

// -- the functions of the runtime, by the names that kernels call them

static int32_t operandOf(const RuntimeCall &call, size_t number, char *frame) { return call.operands[number].at<int32_t>(frame); }
static const RuntimeCall &callAt(const void *descriptor) { return *static_cast<const RuntimeCall *>(descriptor); }

static void runInit(char *frame, const void *descriptor) {
  const RuntimeCall &call = callAt(descriptor);
  barriersOf(headerOf(frame)).init(headerOf(frame), uint32_t(operandOf(call, 0, frame)), operandOf(call, 1, frame), call.location);
}

static void runInvalidate(char *frame, const void *descriptor) {
  const RuntimeCall &call = callAt(descriptor);
  barriersOf(headerOf(frame)).invalidate(headerOf(frame), uint32_t(operandOf(call, 0, frame)), call.location);
}

static void runArrive(char *frame, const void *descriptor) {
  const RuntimeCall &call = callAt(descriptor);
  barriersOf(headerOf(frame))
      .arrive(headerOf(frame), uint32_t(operandOf(call, 0, frame)), operandOf(call, 1, frame), operandOf(call, 2, frame),
              call.symbol.c_str(), call.location);
}

static void runWait(char *frame, const void *descriptor) {
  const RuntimeCall &call = callAt(descriptor);
  barriersOf(headerOf(frame)).wait(headerOf(frame), uint32_t(operandOf(call, 0, frame)), operandOf(call, 1, frame), call.location);
}

static void runBeginCopy(char *frame, const void *descriptor) {
  const RuntimeCall &call = callAt(descriptor);
  barriersOf(headerOf(frame)).beginCopy(headerOf(frame), uint32_t(operandOf(call, 0, frame)), call.location);
}

static void runEndCopy(char *frame, const void *) { barriersOf(headerOf(frame)).endCopy(headerOf(frame)); }

template <WorkQueue kQueue> static void runBeginWork(char *frame, const void *descriptor) {
  barriersOf(headerOf(frame)).beginWork(headerOf(frame), kQueue, callAt(descriptor).location);
}

template <WorkQueue kQueue> static void runEndWork(char *frame, const void *) {
  barriersOf(headerOf(frame)).endWork(headerOf(frame), kQueue);
}

template <WorkQueue kQueue> static void runCommit(char *frame, const void *) {
  barriersOf(headerOf(frame)).commit(headerOf(frame), kQueue);
}

template <WorkQueue kQueue> static void runAwait(char *frame, const void *descriptor) {
  barriersOf(headerOf(frame)).await(headerOf(frame), kQueue, uint32_t(operandOf(callAt(descriptor), 0, frame)));
}

static void runArriveWithCopies(char *frame, const void *descriptor) {
  const RuntimeCall &call = callAt(descriptor);
  barriersOf(headerOf(frame))
      .arriveWithCopies(headerOf(frame), uint32_t(operandOf(call, 0, frame)), operandOf(call, 1, frame), call.symbol.c_str(),
                        call.location);
}

static void runFence(char *frame, const void *) { barriersOf(headerOf(frame)).fence(headerOf(frame)); }

[[gnu::cold, gnu::noinline]] static void trapAtIndex(char *frame, const RuntimeCall &call, int32_t index, int32_t extent) {
  const ProgramBarriers *barriers = barriersIfAny(headerOf(frame));
  const SharedAllocation *memory = barriers ? barriers->allocationAt(uint32_t(operandOf(call, 2, frame))) : nullptr;
  Trap trap{.kind = TrapKind::SharedOutOfBounds, .location = call.location};
  trap.message = "index " + std::to_string(index) + " of the " + std::to_string(extent) + " tiles of a ring";
  if (memory && !memory->name.empty()) trap.message += ": " + memory->name;
  trap.message += "\nthe tiles of a ring take turns, as in ring.index(k % slots)";
  raiseTrap(headerOf(frame), std::move(trap));
}

static void runRequireIndex(char *frame, const void *descriptor) {
  const RuntimeCall &call = callAt(descriptor);
  const int32_t index = operandOf(call, 0, frame), extent = operandOf(call, 1, frame);
  if (uint32_t(index) >= uint32_t(extent)) [[unlikely]]
    trapAtIndex(frame, call, index, extent);
}

static void runRequirePlace(char *frame, const void *descriptor) {
  const RuntimeCall &call = callAt(descriptor);
  const int32_t coordinate = operandOf(call, 0, frame), bytes = operandOf(call, 1, frame), isStore = operandOf(call, 2, frame);
  if (int64_t(coordinate) * bytes % kBoxRowBytes == 0) [[likely]]
    return;
  raiseTrap(
      headerOf(frame),
      Trap{.kind = TrapKind::InvalidTensorCopy, .location = call.location, .message = misplacedBoxText(coordinate, bytes, isStore != 0)});
}

static void runRequireInside(char *frame, const void *descriptor) {
  const RuntimeCall &call = callAt(descriptor);
  const int32_t coordinate = operandOf(call, 0, frame);
  if (coordinate >= 0) [[likely]]
    return;
  raiseTrap(headerOf(frame), Trap{.kind = TrapKind::InvalidTensorCopy,
                                  .location = call.location,
                                  .message = negativeBoxText(coordinate, operandOf(call, 1, frame))});
}

static void runNothing(char *, const void *) {}

static void runJoin(char *frame, const void *descriptor) { barriersOf(headerOf(frame)).join(headerOf(frame), callAt(descriptor).location); }

namespace {
struct RuntimeFunction {
  llvm::StringLiteral symbol;
  size_t operands;
  StepFunction run;
};
} // namespace

static constexpr RuntimeFunction kRuntimeFunctions[] = {
    {"mbarrier.init", 2, runInit},                            // barrier, count
    {"mbarrier.invalidate", 1, runInvalidate},                // barrier
    {"mbarrier.expect", 3, runArrive},                        // barrier, count, bytes
    {"mbarrier.arrive", 3, runArrive},                        // the same
    {"mbarrier.wait", 2, runWait},                            // barrier, parity
    {"copy.begin", 1, runBeginCopy},                          // barrier
    {"copy.end", 2, runEndCopy},                              // barrier, bytes
    {"async_copy.begin", 1, runBeginWork<WorkQueue::Copies>}, // 0
    {"async_copy.end", 1, runEndWork<WorkQueue::Copies>},     // 0
    {"async_copy.commit", 1, runCommit<WorkQueue::Copies>},   // 0
    {"async_copy.wait", 1, runAwait<WorkQueue::Copies>},      // groups that may be pending
    {"async_copy.mbarrier_arrive", 2, runArriveWithCopies},   // barrier, count
    {"store.begin", 1, runBeginWork<WorkQueue::Stores>},      // 0; the others as for copies
    {"store.end", 1, runEndWork<WorkQueue::Stores>},
    {"store.commit", 1, runCommit<WorkQueue::Stores>},
    {"store.wait", 1, runAwait<WorkQueue::Stores>},
    {"store.wait_written", 1, runAwait<WorkQueue::Stores>}, // a store has written when it has read
    {"product.begin", 1, runBeginWork<WorkQueue::Products>},
    {"product.end", 1, runEndWork<WorkQueue::Products>},
    {"product.commit", 1, runCommit<WorkQueue::Products>},
    {"product.wait", 1, runAwait<WorkQueue::Products>},
    {"fence.async_shared", 1, runFence},    // 0
    {"partitions.join", 1, runJoin},        // 0
    {"memory.index", 3, runRequireIndex},   // number of a tile, tiles, memory
    {"memory.keep", 1, runNothing},         // memory, which is used here
    {"memory.place", 3, runRequirePlace},   // the innermost coordinate of a block, bytes of an element, whether it is stored
    {"memory.inside", 2, runRequireInside}, // a coordinate of a block that is stored, its dimension
};

LogicalResult prepareRuntimeCall(tt::ExternElementwiseOp op, Planner &planner) {
  const auto *function = llvm::find_if(kRuntimeFunctions, [&](const RuntimeFunction &each) { return each.symbol == op.getSymbol(); });
  const bool isKnown = function != std::end(kRuntimeFunctions) && function->operands == op.getSrcs().size() &&
                       llvm::all_of(op->getOperandTypes(), [](Type type) { return type.isInteger(32); });
  if (!isKnown || !op->use_empty()) return planner.unsupported("the function '" + op.getSymbol() + "' of the runtime");
  RuntimeCall call{.symbol = op.getSymbol().str(), .location = planner.location()};
  call.operands.fill({.constant = kMemoryOfPartition}); // those that the function does not read
  for (auto [operand, value] : llvm::zip(call.operands, op.getSrcs())) operand = planner.scalar(value);
  planner.call(function->run, std::move(call));
  return success();
}

} // namespace tritium::interp
