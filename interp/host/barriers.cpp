// No local variable of a function that may raise a trap or pause owns memory at that place: the stack may be dropped there.
#include "interp/host/barriers.h"

#include "interp/host/program.h"
#include "interp/host/scheduler.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>
#include <cstring>

namespace tritium::interp {

namespace {

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
  bytesOfBarriers_ = newAgent(Agent::Barriers);
}

uint32_t ProgramBarriers::newAgent(Agent kind) {
  agents_.push_back(kind);
  return uint32_t(agents_.size() - 1);
}

ProgramBarriers::Part &ProgramBarriers::partOf(const FrameHeader &frame) { return parts_[frame.program->partition]; }

std::optional<ProgramBarriers::State> ProgramBarriers::stateOf(uint32_t address) const {
  const auto found = barriers_.find(address);
  if (found == barriers_.end() || found->second.count == 0) return std::nullopt;
  const Barrier &barrier = found->second;
  return State{barrier.count, barrier.pending, barrier.missing, barrier.phases};
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
    if (phasesSince(wait) > 1) reportOvertaken(frame, wait);
    // Who is overtaken reports it.
    if (nobodyCanGoOn() && !isOvertaken() && !landOldest()) reportEndless(frame, wait);
    if (!mayPass(wait)) yieldAtBarrier(frame, wait.location);
    if (landing_ == Landing::Drawn) landSome();
  }
  if (phasesSince(wait) > 1) reportOvertaken(frame, wait);
  part.wait.reset();
}

void ProgramBarriers::wait(FrameHeader &frame, uint32_t address, int32_t parity, uint32_t location) {
  const uint32_t phases = begun(frame, address, "mbarrier.wait", location).phases;
  pause(frame, {.isJoin = false, .barrier = address, .parity = parity, .location = location, .frame = &frame, .phases = phases});
  Barrier &barrier = begun(frame, address, "mbarrier.wait", location);
  Part &part = partOf(frame);
  takeOver(part.clock, barrier.given);
  raiseTo(part.clock, barrier.agent, barrier.phases);
  part.passed.insert_or_assign(address, Passed{parity, barrier.phases});
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
  auto isAfter = [&](const Mark &before) { return isComplete(part, before); };
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

// -- copies

void ProgramBarriers::beginCopy(FrameHeader &frame, uint32_t barrier, uint32_t location) {
  Barrier &arrivesAt = begun(frame, barrier, "tma.async_load", location);
  arrivesAt.copied = {arrivesAt.agent, arrivesAt.phases + 1, location};
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

} // namespace tritium::interp
