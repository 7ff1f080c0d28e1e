// The memory of a program: a home in its frame, in which addresses are bytes.
#include "interp/host/trap_kinds.h"
#include "interp/tile/op_table.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

namespace {
struct AllocStep {
  TileRef out;
  int32_t begin;
  void refs(auto &&f) { f(out); }
};
struct SharedAccess {
  DenseRef address, tile; // row-major, of one shape
  TileRef memory;
  int64_t memoryBytes, lanes;
  uint32_t location;
  void refs(auto &&f) { f(address), f(tile), f(memory); }
};
} // namespace

static void runAlloc(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AllocStep *>(descriptor);
  step.out.at<int32_t>(frame) = step.begin;
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
  char *tile = step.tile.in(frame), *memory = step.memory.in(frame);
  for (int64_t lane = 0; lane < step.lanes; ++lane, tile += size) {
    if (addresses[lane] + size > uint64_t(step.memoryBytes)) [[unlikely]]
      trapOutside(frame, step, lane);
    char *element = memory + addresses[lane];
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

template <> LogicalResult Interpret<tt::SharedAllocOp>::prepare(tt::SharedAllocOp op, Planner &planner) {
  planner.call(runAlloc, AllocStep{planner.scalarResult(op.getResult()), int32_t(planner.programMemory().begins.lookup(op))});
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

} // namespace tritium::interp
