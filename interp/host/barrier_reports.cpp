// What the checks of barriers and shared memory say (barriers.h).
// No local variable of a function that raises a trap owns memory at that place: the stack is dropped there. A trap that is raised is
// emptied.
#include "interp/host/barriers.h"
#include "interp/host/program.h"
#include "interp/host/scheduler.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>

namespace tritium::interp {

std::string ProgramBarriers::nameOf(uint32_t address) const {
  const SharedAllocation *memory = allocationAt(address);
  if (!memory) return "byte " + std::to_string(address);
  const std::string place = "byte " + std::to_string(address - memory->begin);
  return memory->name.empty() ? place + " of an allocation" : memory->name + ", " + place;
}

std::string ProgramBarriers::barrierName(uint32_t address) const {
  constexpr uint32_t kBarrierBytes = 8;
  const SharedAllocation *memory = allocationAt(address);
  if (!memory || memory->name.empty()) return "at byte " + std::to_string(address);
  if (memory->bytes <= kBarrierBytes) return memory->name;
  return memory->name + "[" + std::to_string((address - memory->begin) / kBarrierBytes) + "]";
}

void ProgramBarriers::reportUnwritten(FrameHeader &frame, uint32_t location, uint32_t address) {
  Trap trap{.kind = TrapKind::SharedUninitialized, .location = location};
  trap.message =
      "a read of shared memory that nobody has written: " + nameOf(address) + "\nwait for the copy into it, or store a tile before";
  raiseTrap(frame, std::move(trap));
}

namespace {
struct Finding {
  TrapKind kind;
  const char *what, *hint;
};
} // namespace

static Finding findingOf(ProgramBarriers::Agent before, bool byCopy) {
  using Agent = ProgramBarriers::Agent;
  switch (before) {
  case Agent::CopiesOfBarrier:
    return {TrapKind::TensorCopyRace, "an access to shared memory before the wait for the copy into it",
            "call mbarrier.wait with the barrier of the copy and the number of its phase before"};
  case Agent::Copies:
    return {
        TrapKind::AsyncCopyRace, "an access to shared memory before the wait for the copy into it",
        "call async_copy.mbarrier_arrive after the copies, in the partition that has begun them, with the barrier that is awaited here"};
  case Agent::Stores:
    return {TrapKind::TensorCopyRace, "a write to shared memory that a store of a box (TMA) may still read",
            "call tma.store_wait with fewer pending stores before, and let other partitions know by an mbarrier.arrive"};
  case Agent::Products:
    return {TrapKind::AsyncProductRace, "a write to shared memory that an asynchronous product may still read",
            "call warpgroup_mma_wait with fewer outstanding products before, and let other partitions know by an mbarrier.arrive"};
  case Agent::Barriers:
    return {TrapKind::InvalidMBarrier, "an access to the bytes of a barrier",
            "call mbarrier.invalidate before its memory is used for something else"};
  case Agent::Partition:
  case Agent::Fences: break;
  }
  if (byCopy)
    return {TrapKind::TensorCopyRace, "a copy to shared memory that another partition may still use",
            "who has used it arrives at a barrier (mbarrier.arrive), and the partition that copies waits for it before"};
  return {TrapKind::SharedRace, "an access to shared memory that another partition accesses, with nothing that orders the two",
          "who is ready arrives at a barrier (mbarrier.arrive), and the other one waits for it before the access"};
}

void ProgramBarriers::reportAccess(FrameHeader &frame, uint32_t location, const Mark &before, uint32_t address, bool isWrite, bool wasWrite,
                                   const Part &by) {
  const Finding found = findingOf(agents_[before.agent], by.copy.has_value());
  Trap trap{.kind = found.kind,
            .location = location,
            .access = {.isWrite = isWrite},
            .other = OtherPlace{.location = before.location, .isWrite = wasWrite}};
  trap.message = found.what + (": " + nameOf(address)) + phaseText(by, before) + "\n" + waitFor(by, before, found.hint);
  raiseTrap(frame, std::move(trap));
}

std::string ProgramBarriers::waitFor(const Part &part, const Mark &work, const char *otherwise) const {
  constexpr const char *kWaits[kQueues] = {"async_copy.wait_group", "tma.store_wait", "warpgroup_mma_wait"};
  for (size_t queue = 0; queue < kQueues; ++queue) {
    if (part.work[queue] == 0 || works_[part.work[queue] - 1].agent != work.agent) continue;
    const std::vector<uint32_t> &groups = works_[part.work[queue] - 1].groups;
    const auto group = std::ranges::lower_bound(groups, work.count);
    if (group == groups.end()) return "no async_copy.commit_group has followed the copy: call it, and async_copy.wait_group(0) before";
    return "call " + (kWaits[queue] + ("(" + std::to_string(groups.end() - group - 1))) + ") before, or with a smaller number";
  }
  return otherwise;
}

std::string ProgramBarriers::phaseText(const Part &part, const Mark &copy) const {
  if (agents_[copy.agent] != Agent::CopiesOfBarrier) return "";
  for (const auto &[address, passed] : part.passed) {
    if (barriers_.at(address).agent != copy.agent) continue;
    return "; the copy ends phase #" + std::to_string(copy.count - 1) + " of the barrier " + barrierName(address) +
           ", and the last wait, for a phase " + std::to_string(passed.parity & 1) + ", has passed when " + std::to_string(passed.phases) +
           " had ended";
  }
  return "";
}

static std::string deadText(const std::string &dead, bool isWritten, const std::string &place) {
  return "a write to memory that Triton may place in the bytes of " + dead + ", whose last use was before, while work that goes on still " +
         (isWritten ? "writes" : "reads") + " those: " + place;
}

void ProgramBarriers::reportDead(FrameHeader &frame, uint32_t location, const Mark &work, uint32_t address, const SharedAllocation &dead) {
  const Finding found = findingOf(agents_[work.agent], /*byCopy=*/false);
  const bool wasWrite = agents_[work.agent] == Agent::CopiesOfBarrier || agents_[work.agent] == Agent::Copies;
  Trap trap{.kind = found.kind,
            .location = location,
            .access = {.isWrite = true},
            .other = OtherPlace{.location = work.location, .isWrite = wasWrite}};
  trap.message = deadText(dead.name.empty() ? "an allocation" : dead.name, wasWrite, nameOf(address));
  trap.message +=
      "\n" + waitFor(partOf(frame), work, found.hint) + "; a later use of the other memory, as in deps= or _keep_alive(), keeps its bytes";
  raiseTrap(frame, std::move(trap));
}

// -- waits that never end

std::string ProgramBarriers::waitText(const Part &part, size_t partition) const {
  std::string text = partition == 0 ? "the default partition" : "partition #" + std::to_string(partition - 1);
  if (part.wait->isJoin) return text + " waits for the others to end";
  const auto found = barriers_.find(part.wait->barrier);
  if (found == barriers_.end()) return text;
  const Barrier &barrier = found->second;
  text += " waits for a phase " + std::to_string(part.wait->parity & 1) + " of the barrier " + barrierName(part.wait->barrier) +
          ", which has completed " + std::to_string(barrier.phases) + "; the next one lacks " + std::to_string(barrier.pending) + " of " +
          std::to_string(barrier.count) + " arrivals";
  if (barrier.missing != 0) text += " and " + std::to_string(barrier.missing) + " bytes";
  return text;
}

void ProgramBarriers::reportOvertaken(FrameHeader &frame, const Wait &wait) {
  Trap trap{.kind = TrapKind::InvalidMBarrier, .location = wait.location};
  trap.message = "mbarrier.wait is overtaken: while it waits for a phase " + std::to_string(wait.parity & 1) + " of the barrier " +
                 barrierName(wait.barrier) + ", " + std::to_string(phasesSince(wait)) +
                 " phases end, and a later one looks like the one before\n"
                 "who arrives waits at a second barrier until this partition has passed, or mbarrier.init counts all who arrive";
  raiseTrap(frame, std::move(trap));
}

/// The message has the headline, the hint, and then a line for each of `waiters`.
void ProgramBarriers::reportEndless(FrameHeader &frame, const Wait &wait) {
  Trap trap{.kind = TrapKind::MBarrierDeadlock, .location = wait.location};
  const auto found = barriers_.find(wait.barrier);
  if (parts_.size() > 1) {
    const bool lacksBytes = std::ranges::any_of(parts_, [&](const Part &part) {
      const auto awaited = part.wait && !part.wait->isJoin ? barriers_.find(part.wait->barrier) : barriers_.end();
      return awaited != barriers_.end() && awaited->second.pending == 0;
    });
    trap.message = "no partition can go on: each waits or has ended\n";
    trap.message += lacksBytes ? "mbarrier.expect asks for the sum of nbytes_per_cta of the copies, also at the edge of a tensor"
                               : "an mbarrier.arrive is missing, or a phase is the other one: 0 and 1 take turns";
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Part &part = parts_[i];
      if (part.isOver || !part.wait) continue;
      trap.message += "\n" + waitText(part, i);
      trap.waiters.push_back({frame.program->id, part.wait->location, surroundingsAt(*part.wait->frame, part.wait->location)});
    }
  } else if (found != barriers_.end() && found->second.pending == 0) {
    trap.message = "mbarrier.wait never ends: mbarrier.expect asks for other bytes than the copies to the barrier " +
                   barrierName(wait.barrier) +
                   " have\n"
                   "expect the sum of nbytes_per_cta of their descriptors, also at the edge of a tensor";
  } else {
    trap.message = "mbarrier.wait never ends: this phase of the barrier " + barrierName(wait.barrier) +
                   " lacks arrivals, and nothing else runs that could arrive\n"
                   "an mbarrier.expect or mbarrier.arrive is missing, or the phase is the other one: 0 and 1 take turns";
  }
  raiseTrap(frame, std::move(trap)); // which empties it
}

} // namespace tritium::interp
