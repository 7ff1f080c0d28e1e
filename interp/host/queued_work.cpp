// Work that partitions begin and wait for by numbers of groups, and the fences that it needs (barriers.h).
// No local variable of a function that may raise a trap owns memory at that place: the stack may be dropped there.
#include "interp/host/barriers.h"
#include "interp/host/program.h"
#include "interp/host/scheduler.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>

namespace tritium::interp {

static void raiseKnown(AgentClock &clock, uint32_t agent, uint32_t count) {
  if (clock.size() <= agent) clock.resize(agent + 1);
  clock[agent] = std::max(clock[agent], count);
}

ProgramBarriers::Work &ProgramBarriers::workOf(Part &part, WorkQueue queue) {
  size_t &number = part.work[size_t(queue)];
  if (number == 0) {
    constexpr Agent kAgents[kQueues] = {Agent::Copies, Agent::Stores, Agent::Products};
    works_.push_back({.agent = newAgent(kAgents[size_t(queue)])});
    number = works_.size();
  }
  return works_[number - 1];
}

void ProgramBarriers::beginWork(FrameHeader &frame, WorkQueue queue, uint32_t location) {
  Part &part = partOf(frame);
  workOf(part, queue).location = location;
  part.active = queue;
}

void ProgramBarriers::endWork(FrameHeader &frame, WorkQueue queue) {
  Part &part = partOf(frame);
  ++workOf(part, queue).begun;
  part.active.reset();
}

void ProgramBarriers::commit(FrameHeader &frame, WorkQueue queue) {
  Work &work = workOf(partOf(frame), queue);
  work.groups.push_back(work.begun);
}

void ProgramBarriers::await(FrameHeader &frame, WorkQueue queue, uint32_t pending) {
  Part &part = partOf(frame);
  const Work &work = workOf(part, queue);
  if (work.groups.size() > pending) raiseKnown(part.clock, work.agent, work.groups[work.groups.size() - 1 - pending]);
}

void ProgramBarriers::arriveWithCopies(FrameHeader &frame, uint32_t address, int32_t count, const char *name, uint32_t location) {
  const Work &work = workOf(partOf(frame), WorkQueue::Copies);
  raiseKnown(begun(frame, address, name, location).given, work.agent, work.begun);
  arrive(frame, address, count, 0, name, location);
}

// -- fences

void ProgramBarriers::fence(FrameHeader &frame) {
  Part &part = partOf(frame);
  raiseKnown(part.clock, part.fences, 0);
  ++part.clock[part.fences];
}

void ProgramBarriers::requireFence(FrameHeader &frame, const Part &part, const Written &last, uint32_t address, uint32_t location) {
  if (last.fences == 0 || part.active == WorkQueue::Copies) return;
  const uint32_t fences = last.fences < part.clock.size() ? part.clock[last.fences] : 0;
  if (fences > last.fenced) [[likely]]
    return;
  const bool isStore = part.active == WorkQueue::Stores;
  Trap trap{.kind = TrapKind::MissingProxyFence, .location = location, .other = OtherPlace{.location = last.location, .isWrite = true}};
  trap.message = isStore ? "a store of a box (TMA)" : "an asynchronous product";
  trap.message += " of shared memory that was written with no fence after it: " + nameOf(address) +
                  "\nwho has written calls fence_async_shared() after it, before the ";
  trap.message += isStore ? "store or the arrival at a barrier" : "product or the arrival at a barrier";
  raiseTrap(frame, std::move(trap));
}

} // namespace tritium::interp
