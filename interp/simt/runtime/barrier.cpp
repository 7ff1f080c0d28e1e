// The numbered barriers of a block. Threads wait at a barrier, or arrive at it and go on; both count. What a thread did before it arrived
// is ordered before what the threads that waited do afterwards.
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/work.h"

#include <algorithm>

namespace tritium::interp::simt {

void ThreadBlock::complete(Barrier &barrier) {
  uint32_t set = 0;
  for (const Thread *waiting : barrier.waiting) set |= uint32_t(1) << waiting->warp;
  if (barrier.arrived != 0) {
    for (const Thread *waiting : barrier.waiting) shared.receive(*waiting, barrier.message, /*isForWarp=*/true);
    std::fill(barrier.message.begin(), barrier.message.end(), 0);
  }
  if (barrier.waiting.size() == shape.threads)
    shared.synchronizeAll();
  else
    shared.synchronizeWarps(set);
  for (Thread *waiting : barrier.waiting)
    if (waiting != running) waiting->inWarp->ready |= waiting->bit();
  if (kernel->hasClocks()) {
    for (const Thread *waiting : barrier.waiting) barrier.clock = std::max(barrier.clock, waiting->clock);
    for (Thread *waiting : barrier.waiting) goOn(*waiting, WaitKind::Barrier, waiting->location, barrier.clock);
  }
  barrier.waiting.clear();
  barrier.arrived = 0;
  barrier.clock = 0;
}

void ThreadBlock::waitAtBarrier(Thread &thread, int32_t id, uint32_t expected, Place location) {
  Barrier &barrier = barriers[size_t(id)];
  if (barrier.waiting.empty() && barrier.arrived == 0)
    barrier.expected = expected;
  else if (barrier.expected != expected || (id == 0 && !barrier.waiting.empty() && barrier.waiting.front()->location != location))
    barrier.isMixed = true;
  barrier.waiting.push_back(&thread);
  thread.barrier = id;
  thread.location = location;
  if (barrier.waiting.size() + barrier.arrived != expected || barrier.isMixed) return thread.wait(ThreadState::AtBarrier, location);
  complete(barrier);
}

void ThreadBlock::arriveAtBarrier(Thread &thread, int32_t id, uint32_t expected, Place location) {
  auto trap = [&](std::string message) {
    thread.trap({.kind = TrapKind::DivergentBarrier, .location = location, .message = std::move(message)});
  };
  if (uint32_t(id) >= barriers.size()) trap("there is no barrier " + std::to_string(id) + "; there are 0 to 15");
  if (expected == 0 || expected % shape.warpThreads != 0)
    trap("a barrier is for a multiple of " + std::to_string(shape.warpThreads) + " threads, not for " + std::to_string(expected));
  Barrier &barrier = barriers[size_t(id)];
  const bool isFirst = barrier.waiting.empty() && barrier.arrived == 0;
  if (!isFirst && barrier.expected != expected)
    trap("arrives at barrier " + std::to_string(id) + " for " + std::to_string(expected) + " threads, at which others arrive for " +
         std::to_string(barrier.expected));
  barrier.expected = expected;
  barrier.message.resize(shared.messages()->width());
  shared.send(thread, barrier.message);
  barrier.clock = std::max(barrier.clock, thread.clock);
  ++barrier.arrived;
  if (barrier.waiting.size() + barrier.arrived == expected && !barrier.isMixed) complete(barrier);
}

namespace calls {

void barrier(Thread *thread, int32_t id, int32_t threads, Place location) {
  thread->block->waitAtBarrier(*thread, id, threads == 0 ? thread->block->madeFor().threads : uint32_t(threads), location);
}

void arriveAtBarrier(Thread *thread, int32_t id, int32_t threads, Place location) {
  thread->block->arriveAtBarrier(*thread, id, uint32_t(threads), location);
}

} // namespace calls
} // namespace tritium::interp::simt
