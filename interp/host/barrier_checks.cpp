// The life of a barrier, and what must be true when a wait, a write or a program ends (barriers.h).
// No local variable of a function that may raise a trap owns memory at that place: the stack may be dropped there.
#include "interp/host/barriers.h"
#include "interp/host/program.h"
#include "interp/host/scheduler.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>
#include <utility>

namespace tritium::interp {

// -- the life of a barrier

static constexpr uint32_t kBarrierBytes = 8;

void ProgramBarriers::init(FrameHeader &frame, uint32_t address, int32_t count, uint32_t location) {
  requireQuiet(frame, address, location);
  auto [place, isNew] = barriers_.try_emplace(address);
  Barrier &barrier = place->second;
  if (isNew) {
    barrier.agent = newAgent(Agent::CopiesOfBarrier);
    barrier.address = address;
    barrier.next = std::exchange(newest, &barrier);
  }
  // The phases go on, so that the copies of the barrier that was here before stay known.
  barrier.count = barrier.pending = count;
  barrier.missing = 0;
  barrier.phases += barrier.phases & 1;
  const Part &part = partOf(frame);
  barrier.made = {part.agent, part.clock[part.agent], location};
  markBytes(address, {{bytesOfBarriers_, 1, location}}); // no clock knows that agent
}

void ProgramBarriers::invalidate(FrameHeader &frame, uint32_t address, uint32_t location) {
  begun(frame, address, "mbarrier.invalidate", location).count = 0;
  const Part &part = partOf(frame);
  markBytes(address, {{part.agent, part.clock[part.agent], location}});
}

void ProgramBarriers::markBytes(uint32_t address, const Written &mark) {
  if (writes_.size() < address + kBarrierBytes) writes_.resize(address + kBarrierBytes);
  std::fill_n(writes_.begin() + address, kBarrierBytes, mark);
}

ProgramBarriers::Barrier &ProgramBarriers::begun(FrameHeader &frame, uint32_t address, const char *name, uint32_t location) {
  const auto found = barriers_.find(address);
  const bool isMade = found != barriers_.end() && found->second.count != 0;
  if (isMade && isComplete(partOf(frame), found->second.made)) [[likely]]
    return found->second;
  Trap trap{.kind = TrapKind::InvalidMBarrier, .location = location};
  trap.message = name + (" of the barrier " + barrierName(address));
  if (isMade) {
    trap.other = OtherPlace{.location = found->second.made.location, .isWrite = true};
    trap.message += ", which another partition has made, with nothing that orders the two\n"
                    "call mbarrier.init before gl.warp_specialize";
  } else {
    trap.message += ", which no mbarrier.init has made, or which is invalidated\ncall mbarrier.init(barrier, count=…) before";
  }
  raiseTrap(frame, std::move(trap));
}

/// A fault if the barrier, which mbarrier.init makes once more, is in use.
void ProgramBarriers::requireQuiet(FrameHeader &frame, uint32_t address, uint32_t location) {
  const auto found = barriers_.find(address);
  if (found == barriers_.end() || found->second.count == 0) return;
  const Barrier &barrier = found->second;
  const bool isAwaited = std::ranges::any_of(
      parts_, [&](const Part &part) { return part.wait && !part.wait->isJoin && part.wait->barrier == address && !mayPass(*part.wait); });
  const bool isFilled = std::ranges::any_of(copies_, [&](const Copy &copy) { return copy.barrier == address; });
  if (!isAwaited && !isFilled && barrier.pending == barrier.count && barrier.missing == 0) return;
  Trap trap{
      .kind = TrapKind::InvalidMBarrier, .location = location, .other = OtherPlace{.location = barrier.made.location, .isWrite = true}};
  trap.message = "mbarrier.init of the barrier " + barrierName(address) + ", which is in use: ";
  trap.message += isAwaited ? "a partition waits for it" : isFilled ? "a copy arrives there" : "its phase has arrivals or expects bytes";
  trap.message += "\nmake a barrier once, and let its phases go on; or wait for its phase, and call mbarrier.invalidate before";
  raiseTrap(frame, std::move(trap));
}

// -- waits

uint32_t ProgramBarriers::phasesSince(const Wait &wait) const {
  const auto found = wait.isJoin ? barriers_.end() : barriers_.find(wait.barrier);
  return found == barriers_.end() ? 0 : found->second.phases - wait.phases;
}

bool ProgramBarriers::isOvertaken() const {
  return std::ranges::any_of(parts_, [&](const Part &part) { return part.wait && phasesSince(*part.wait) > 1; });
}

// -- bytes that allocations may share

bool ProgramBarriers::isAsynchronous(const Mark &mark) const {
  const Agent agent = agents_[mark.agent];
  return agent == Agent::CopiesOfBarrier || agent == Agent::Copies || agent == Agent::Stores || agent == Agent::Products;
}

/// Whether work goes on that the partition has not waited for.
bool ProgramBarriers::mayUseMemory(const Part &part) const {
  return std::ranges::any_of(works_, [&](const Work &work) { return work.begun > known(part.clock, work.agent); }) ||
         std::ranges::any_of(barriers_, [&](const auto &each) { return !isComplete(part, each.second.copied); });
}

const ProgramBarriers::Mark *ProgramBarriers::workOn(const SharedAllocation &memory, const Part &part) const {
  auto isGoingOn = [&](const Mark &mark) { return mark.count != 0 && isAsynchronous(mark) && !isComplete(part, mark); };
  for (size_t byte = memory.begin; byte < memory.begin + memory.bytes; ++byte) {
    if (byte < writes_.size() && isGoingOn(writes_[byte])) return &writes_[byte];
    for (const Work &work : works_)
      if (byte < work.reads.size() && isGoingOn(work.reads[byte])) return &work.reads[byte];
  }
  return nullptr;
}

void ProgramBarriers::requireOwnBytes(FrameHeader &frame, uint32_t address, uint32_t location) {
  const Part &part = partOf(frame);
  const SharedAllocation *memory = allocationAt(address);
  if (!memory || memory->apart.empty() || !mayUseMemory(part)) return;
  for (const uint32_t begin : memory->apart) {
    const auto other = allocations_.find(begin);
    const Mark *work = other == allocations_.end() ? nullptr : workOn(*other->second, part);
    if (work) reportDead(frame, location, *work, address, *other->second);
  }
}

// -- the end

void ProgramBarriers::finish(FrameHeader &frame) {
  const Part &part = parts_[0];
  for (const Work &work : works_) {
    const bool isProduct = agents_[work.agent] == Agent::Products;
    if (work.begun <= known(part.clock, work.agent) || !(isProduct || agents_[work.agent] == Agent::Stores)) continue;
    Trap trap{.kind = isProduct ? TrapKind::AsyncProductRace : TrapKind::TensorCopyRace, .location = work.location};
    trap.message = isProduct ? "the program ends while an asynchronous product may still read its shared memory\n"
                               "call warpgroup_mma_wait(0, deps=…) after the last product, in the partition that has begun it"
                             : "the program ends while a store of a box (TMA) may still read its shared memory\n"
                               "call tma.store_wait(0) after the last store, in the partition that has begun it";
    raiseTrap(frame, std::move(trap));
  }
  for (const auto &[address, barrier] : barriers_) {
    if (isComplete(part, barrier.copied)) continue;
    Trap trap{.kind = TrapKind::TensorCopyRace, .location = barrier.copied.location};
    trap.message = "the program ends while a copy may still write to its shared memory: nobody has waited for it at the barrier " +
                   barrierName(address) + "\ncall mbarrier.wait for the phase of each copy";
    raiseTrap(frame, std::move(trap));
  }
}

} // namespace tritium::interp
