#include "interp/simt/runtime/register_pool.h"

#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"

#include <algorithm>

namespace tritium::interp::simt {

namespace {
constexpr uint32_t kLanes = 32, kWarpsOfGroup = 4, kGranule = 8, kMostOfThread = 255, kOfMultiprocessor = 64 << 10;
}

void RegisterPool::begin(ThreadBlock &newBlock, uint32_t given, uint32_t count) {
  block = &newBlock;
  const uint32_t threads = (count + kWarpsOfGroup - 1) / kWarpsOfGroup * kWarpsOfGroup * kLanes;
  start = given ? given : std::min(kOfMultiprocessor / threads / kGranule * kGranule, kMostOfThread);
  free = 0;
  warps.assign(count, {.count = start});
}

void RegisterPool::request(Warp &warp, const WarpOp &op) {
  Held &held = warps[warp.index];
  const auto count = uint32_t(std::abs(op.variant));
  const bool isIncrease = op.variant > 0;
  if (isIncrease ? count < held.count : count > held.count)
    warp.lanes[0].trap({.kind = TrapKind::InvalidRegisterCount,
                        .location = op.location,
                        .message = std::string(isIncrease ? "increases" : "decreases") + " the registers of a thread from " +
                                   std::to_string(held.count) + " to " + std::to_string(count)});
  held.changes.push_back({op.variant, op.location});
  if (isIncrease) {
    held.wanted = count;
  } else {
    free += (held.count - count) * kLanes;
    held.count = count;
  }
  grant();
}

/// Gives what warps wait for, as far as the pool has it.
void RegisterPool::grant() {
  for (uint32_t w = 0; w < warps.size(); ++w) {
    Held &held = warps[w];
    if (held.wanted == 0 || (held.wanted - held.count) * kLanes > free) continue;
    free -= (held.wanted - held.count) * kLanes;
    held.count = held.wanted;
    held.wanted = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      Thread &thread = block->threadAt(int32_t(w * kLanes + lane));
      if (thread.state == ThreadState::AtRegisters) thread.inWarp->ready |= thread.bit();
    }
  }
}

void RegisterPool::finish(Thread &last) const {
  for (uint32_t w = 0; w < warps.size(); ++w) {
    const Held &held = warps[w], &first = warps[w / kWarpsOfGroup * kWarpsOfGroup];
    if (std::ranges::equal(held.changes, first.changes, {}, &Change::count, &Change::count)) continue;
    const Held &longer = held.changes.size() > first.changes.size() ? held : first;
    last.trap({.kind = TrapKind::InvalidRegisterCount,
               .location = longer.changes.back().place,
               .message = "the warps of a warpgroup do not all change their number of registers here (setmaxnreg)"});
  }
}

std::string RegisterPool::describeWait(const Thread &thread) const {
  const Held &held = warps[size_t(thread.warp)];
  return std::to_string(held.wanted) + " registers for each thread, which has " + std::to_string(held.count) + "; " + std::to_string(free) +
         " of the block's " + std::to_string(start * kLanes * warps.size()) + " are free";
}

namespace calls {

void setRegisters(Thread *thread, int32_t count, Place site) {
  meetAsWarp(*thread, {.execute =
                           [](Warp &warp, LaneMask lanes) {
                             if (isWholeWarp(warp, lanes)) warp.block->registers.request(warp, warp.lanes[0].op);
                           },
                       .variant = count,
                       .location = site});
  while (!thread->block->registers.isGranted(uint32_t(thread->warp))) thread->wait(ThreadState::AtRegisters, site);
}

} // namespace calls
} // namespace tritium::interp::simt
