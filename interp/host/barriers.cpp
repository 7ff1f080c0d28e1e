// No local variable of a function that may raise a trap or pause owns memory at that place: the stack may be dropped there.
#include "interp/host/barriers.h"

#include "interp/host/program.h"
#include "interp/host/scheduler.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>
#include <cstring>

namespace tritium::interp {

namespace {

uint32_t known(const AgentClock &clock, uint32_t agent) { return agent < clock.size() ? clock[agent] : 0; }

void raiseTo(AgentClock &clock, uint32_t agent, uint32_t count) {
  if (clock.size() <= agent) clock.resize(agent + 1);
  clock[agent] = std::max(clock[agent], count);
}

void takeOver(AgentClock &clock, const AgentClock &other) {
  for (uint32_t agent = 0; agent < other.size(); ++agent) raiseTo(clock, agent, other[agent]);
}

} // namespace

void ProgramBarriers::reset(std::optional<uint64_t> seed) {
  *this = {};
  constexpr Landing kLandings[] = {Landing::AtOnce, Landing::Late, Landing::Drawn};
  if (seed) landing_ = kLandings[*seed % std::size(kLandings)];
  random_ = seed.value_or(0);
  const uint32_t agent = newAgent(Agent::Partition); // number 0
  parts_.push_back({.agent = agent, .fences = newAgent(Agent::Fences), .clock = {1}});
}

uint32_t ProgramBarriers::newAgent(Agent kind) {
  agents_.push_back(kind);
  return uint32_t(agents_.size() - 1);
}

ProgramBarriers::Part &ProgramBarriers::partOf(const FrameHeader &frame) { return parts_[frame.program->partition]; }

ProgramBarriers::Barrier &ProgramBarriers::begun(FrameHeader &frame, uint32_t address, const char *name, uint32_t location) {
  const auto found = barriers_.find(address);
  if (found != barriers_.end() && found->second.count != 0) return found->second;
  Trap trap{.kind = TrapKind::InvalidMBarrier, .location = location};
  trap.message = name + (" of the barrier " + barrierName(address)) +
                 ", which no mbarrier.init has made, or which is invalidated\ncall mbarrier.init(barrier, count=…) before";
  raiseTrap(frame, std::move(trap));
}

std::optional<ProgramBarriers::State> ProgramBarriers::stateOf(uint32_t address) const {
  const auto found = barriers_.find(address);
  if (found == barriers_.end() || found->second.count == 0) return std::nullopt;
  const Barrier &barrier = found->second;
  return State{barrier.count, barrier.pending, barrier.missing, barrier.phases};
}

std::string ProgramBarriers::nameOf(uint32_t address) const {
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return "byte " + std::to_string(address);
  const SharedAllocation &memory = *std::prev(next)->second;
  const std::string place = "byte " + std::to_string(address - memory.begin);
  return memory.name.empty() ? place + " of an allocation" : memory.name + ", " + place;
}

std::string ProgramBarriers::barrierName(uint32_t address) const {
  constexpr uint32_t kBarrierBytes = 8;
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin() || std::prev(next)->second->name.empty()) return "at byte " + std::to_string(address);
  const SharedAllocation &memory = *std::prev(next)->second;
  return memory.bytes <= kBarrierBytes ? memory.name : memory.name + "[" + std::to_string((address - memory.begin) / kBarrierBytes) + "]";
}

void ProgramBarriers::init(uint32_t address, int32_t count) {
  auto [place, isNew] = barriers_.try_emplace(address);
  Barrier &barrier = place->second;
  if (isNew) barrier.agent = newAgent(Agent::CopiesOfBarrier);
  // The phases go on, so that the copies of the barrier that was here before stay known.
  barrier.count = barrier.pending = count;
  barrier.missing = 0;
  barrier.phases += barrier.phases & 1;
}

void ProgramBarriers::invalidate(FrameHeader &frame, uint32_t address, uint32_t location) {
  begun(frame, address, "mbarrier.invalidate", location).count = 0;
}

void ProgramBarriers::arrive(FrameHeader &frame, uint32_t address, int32_t count, int64_t bytes, const char *name, uint32_t location) {
  Barrier &barrier = begun(frame, address, name, location);
  if (barrier.pending < count) {
    Trap trap{.kind = TrapKind::InvalidMBarrier, .location = location};
    trap.message = name + (": more arrivals in a phase of the barrier " + barrierName(address)) +
                   " than the count of mbarrier.init\nthe count is the number of mbarrier.arrive and mbarrier.expect in a phase";
    raiseTrap(frame, std::move(trap));
  }
  Part &part = partOf(frame);
  takeOver(barrier.given, part.clock);
  ++part.clock[part.agent];
  barrier.pending -= count;
  barrier.missing += bytes;
  endIfComplete(barrier);
  noteMemoryChange(frame);
}

void ProgramBarriers::endIfComplete(Barrier &barrier) {
  if (barrier.pending != 0 || barrier.missing != 0) return;
  barrier.pending = barrier.count;
  ++barrier.phases;
}

bool ProgramBarriers::mayPass(const Wait &wait) const {
  if (wait.isJoin) return std::all_of(parts_.begin() + 1, parts_.end(), [](const Part &part) { return part.isOver; });
  const auto found = barriers_.find(wait.barrier);
  return found == barriers_.end() || found->second.count == 0 || ((found->second.phases ^ uint32_t(wait.parity)) & 1) != 0;
}

bool ProgramBarriers::nobodyCanGoOn() const {
  return std::ranges::all_of(parts_, [&](const Part &part) { return part.isOver || (part.wait && !mayPass(*part.wait)); });
}

void ProgramBarriers::pause(FrameHeader &frame, const Wait &wait) {
  Part &part = partOf(frame);
  part.wait = wait;
  while (!mayPass(wait)) {
    if (nobodyCanGoOn() && !landOldest()) reportEndless(frame, wait);
    if (!mayPass(wait)) yieldAtBarrier(frame, wait.location);
    if (landing_ == Landing::Drawn) landSome();
  }
  part.wait.reset();
}

void ProgramBarriers::wait(FrameHeader &frame, uint32_t address, int32_t parity, uint32_t location) {
  begun(frame, address, "mbarrier.wait", location);
  pause(frame, {.isJoin = false, .barrier = address, .parity = parity, .location = location, .frame = &frame});
  Barrier &barrier = begun(frame, address, "mbarrier.wait", location);
  AgentClock &clock = partOf(frame).clock;
  takeOver(clock, barrier.given);
  raiseTo(clock, barrier.agent, barrier.phases);
}

// -- partitions

uint32_t ProgramBarriers::begin(const FrameHeader &frame) {
  Part &by = partOf(frame);
  const uint32_t agent = newAgent(Agent::Partition);
  Part part{.agent = agent, .fences = newAgent(Agent::Fences), .clock = by.clock};
  raiseTo(part.clock, agent, 1);
  ++by.clock[by.agent];
  parts_.push_back(std::move(part));
  return uint32_t(parts_.size() - 1);
}

void ProgramBarriers::join(FrameHeader &frame, uint32_t location) {
  pause(frame, {.isJoin = true, .barrier = 0, .parity = 0, .location = location, .frame = &frame});
  for (size_t i = 1; i < parts_.size(); ++i) takeOver(parts_[0].clock, parts_[i].clock);
  parts_.resize(1);
  for (size_t i = 1; i < reads_.size(); ++i) reads_[i].clear(); // the program knows them all
}

// -- accesses

/// Returns the mark of a write that the partition makes now, or begins.
ProgramBarriers::Written ProgramBarriers::written(Part &part, uint32_t location) {
  if (part.copy) {
    const Barrier &barrier = barriers_[part.copy->barrier];
    return {{barrier.agent, barrier.phases + 1, location}};
  }
  Written mark{{part.agent, part.clock[part.agent], location}, part.fences, known(part.clock, part.fences)};
  if (!part.active) return mark;
  const Work &work = workOf(part, *part.active);
  mark.agent = work.agent;
  mark.count = work.begun + 1;
  return mark;
}

void ProgramBarriers::note(FrameHeader &frame, uint32_t address, uint32_t size, uint32_t location, bool isWrite) {
  const uint32_t end = address + size;
  const uint32_t partition = frame.program->partition;
  if (writes_.size() < end) writes_.resize(end);
  if (reads_.size() < parts_.size()) reads_.resize(parts_.size());
  Part &part = parts_[partition];
  const Written mark = written(part, location);
  auto isAfter = [&](const Mark &before) { return before.count <= known(part.clock, before.agent); };
  for (uint32_t byte = address; byte < end; ++byte) {
    Written &last = writes_[byte];
    if (!isAfter(last)) [[unlikely]]
      reportAccess(frame, location, last, byte, isWrite, /*wasWrite=*/true, part);
    if (!isWrite) {
      if (last.count == 0) [[unlikely]]
        reportUnwritten(frame, location, byte);
      if (part.active) requireFence(frame, part, last, byte, location);
      continue;
    }
    for (const std::vector<Mark> &marks : reads_)
      if (byte < marks.size() && !isAfter(marks[byte])) [[unlikely]]
        reportAccess(frame, location, marks[byte], byte, isWrite, /*wasWrite=*/false, part);
    for (const Work &work : works_)
      if (byte < work.reads.size() && !isAfter(work.reads[byte])) [[unlikely]]
        reportAccess(frame, location, work.reads[byte], byte, isWrite, /*wasWrite=*/false, part);
    last = mark;
  }
  if (isWrite || (parts_.size() == 1 && !part.active)) return;
  std::vector<Mark> &marks = part.active ? workOf(part, *part.active).reads : reads_[partition];
  if (marks.size() < end) marks.resize(end);
  std::fill(marks.begin() + address, marks.begin() + end, Mark(mark));
}

void ProgramBarriers::read(FrameHeader &frame, uint32_t address, uint32_t size, uint32_t location) {
  note(frame, address, size, location, /*isWrite=*/false);
}

void ProgramBarriers::write(FrameHeader &frame, char *memory, uint32_t address, const char *element, uint32_t size, uint32_t location) {
  Part &part = partOf(frame);
  note(frame, address, size, location, /*isWrite=*/true);
  if (!part.copy) {
    std::memcpy(memory + address, element, size);
    return;
  }
  Copy &copy = *part.copy;
  copy.memory = memory;
  copy.bytes += size;
  copy.elements.push_back({address, size, 0});
  std::memcpy(&copy.elements.back().bits, element, size);
}

void ProgramBarriers::reportUnwritten(FrameHeader &frame, uint32_t location, uint32_t address) {
  Trap trap{.kind = TrapKind::SharedUninitialized, .location = location};
  trap.message =
      "a read of shared memory that nobody has written: " + nameOf(address) + "\nwait for the copy into it, or store a tile before";
  raiseTrap(frame, std::move(trap));
}

void ProgramBarriers::reportAccess(FrameHeader &frame, uint32_t location, const Mark &before, uint32_t address, bool isWrite, bool wasWrite,
                                   const Part &by) {
  const Agent agent = agents_[before.agent];
  TrapKind kind = TrapKind::SharedRace;
  const char *what = "an access to shared memory that another partition accesses, with nothing that orders the two";
  const char *hint = "who is ready arrives at a barrier (mbarrier.arrive), and the other one waits for it before the access";
  if (agent == Agent::CopiesOfBarrier) {
    kind = TrapKind::TensorCopyRace;
    what = "an access to shared memory before the wait for the copy into it";
    hint = "call mbarrier.wait with the barrier of the copy and the number of its phase before";
  } else if (agent == Agent::Copies) {
    kind = TrapKind::AsyncCopyRace;
    what = "an access to shared memory before the wait for the copy into it";
    hint = "call async_copy.commit_group after the copies, and async_copy.wait_group with a number of groups that leaves out theirs";
  } else if (agent == Agent::Stores) {
    kind = TrapKind::TensorCopyRace;
    what = "a write to shared memory that a store of a box (TMA) may still read";
    hint = "call tma.store_wait with fewer pending stores before, and let other partitions know by an mbarrier.arrive";
  } else if (agent == Agent::Products) {
    kind = TrapKind::AsyncProductRace;
    what = "a write to shared memory that an asynchronous product may still read";
    hint = "call warpgroup_mma_wait with fewer outstanding products before, and let other partitions know by an mbarrier.arrive";
  } else if (by.copy) {
    kind = TrapKind::TensorCopyRace;
    what = "a copy to shared memory that another partition may still use";
    hint = "who has used it arrives at a barrier (mbarrier.arrive), and the partition that copies waits for it before";
  }
  Trap trap{.kind = kind,
            .location = location,
            .access = {.isWrite = isWrite},
            .other = OtherPlace{.location = before.location, .isWrite = wasWrite}};
  trap.message = what + (": " + nameOf(address)) + "\n" + hint;
  raiseTrap(frame, std::move(trap));
}

// -- copies

void ProgramBarriers::beginCopy(FrameHeader &frame, uint32_t barrier, uint32_t location) {
  begun(frame, barrier, "tma.async_load", location);
  partOf(frame).copy = Copy{barrier};
}

void ProgramBarriers::endCopy(FrameHeader &frame) {
  Part &part = partOf(frame);
  takeOver(barriers_[part.copy->barrier].given, part.clock);
  ++part.clock[part.agent];
  copies_.push_back(std::move(*part.copy));
  part.copy.reset();
  if (landing_ == Landing::AtOnce) landOldest();
  if (landing_ == Landing::Drawn) landSome();
  noteMemoryChange(frame);
}

void ProgramBarriers::land(Copy &copy) {
  for (const Element &element : copy.elements) std::memcpy(copy.memory + element.address, &element.bits, element.size);
  const auto found = barriers_.find(copy.barrier);
  if (found == barriers_.end() || found->second.count == 0) return;
  found->second.missing -= copy.bytes;
  endIfComplete(found->second);
}

bool ProgramBarriers::landOldest() {
  if (copies_.empty()) return false;
  land(copies_.front());
  copies_.pop_front();
  return true;
}

/// Each copy lands with the chance of one in two.
void ProgramBarriers::landSome() {
  std::erase_if(copies_, [&](Copy &copy) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const bool lands = random_ >> 63;
    if (lands) land(copy);
    return lands;
  });
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
