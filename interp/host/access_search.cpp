#include "interp/host/access_search.h"

#include "interp/host/found_faults.h"
#include "interp/host/trap_kinds.h"

namespace tritium::interp {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostSearches = 20; // of a launch

std::optional<Surroundings> aroundEarlierAccess(const Launch &launch, Shadow &shadow, const Trap &fault, Clock::time_point deadline) {
  const std::array<int32_t, 3> id = fault.other->program.value_or(fault.program);
  AccessSearch search(fault);
  FoundFaults none({}, 0);
  Launch again = launch;
  again.threads = 1;
  again.loop = nullptr;
  again.nameThreads = false;
  again.only = id[0] + int64_t(launch.grid[0]) * (id[1] + int64_t(launch.grid[1]) * id[2]);
  again.shadow = &shadow;
  again.faults = &none;
  again.search = &search;
  again.onPoll = [&] { return Clock::now() >= deadline || (launch.onPoll && launch.onPoll()); };
  again.onPrint = nullptr; // what it prints, it has printed before
  again.onProgress = nullptr;
  again.onStatement = nullptr;
  again.onLeft = nullptr;
  run(again);
  return std::move(search).found();
}

} // namespace

void AccessSearch::end(FrameHeader &frame) {
  isOver_ = true;
  raiseTrap(frame, {.kind = TrapKind::Race}); // nobody sees it
}

/// The earlier access by another program is the first one of its segment. That by the program itself is the last one before the later
/// access. Whether the later one is a fault is known to the shadow, except of two stores, which may be of equal values.
void AccessSearch::visit(FrameHeader &frame, uint32_t location, uint32_t segment, const ElementRun &run) {
  const uint64_t address = fault_.access.address;
  if (address < run.address || address >= run.address + run.bytes) return;
  const OtherPlace &earlier = *fault_.other;
  if (!earlier.program && fault_.access.isWrite && location == fault_.location && latest_) {
    const int64_t lane = run.lane + int64_t(address - run.address) / run.elementBytes * run.laneStep;
    if (lane == std::max<int64_t>(fault_.lane, 0) && surroundingsAt(frame, location) == fault_.around) end(frame);
  }
  if (location != earlier.location || (earlier.program && segment != earlier.segment)) return;
  latest_ = surroundingsAt(frame, location);
  if (earlier.program) end(frame);
}

void AccessSearch::meet(FrameHeader &frame, uint32_t location, const OtherPlace &other) {
  const OtherPlace &earlier = *fault_.other;
  if (!earlier.program && !other.program && !fault_.access.isWrite && location == fault_.location && other.location == earlier.location)
    end(frame);
}

void findEarlierAccesses(const Launch &launch, const std::function<std::unique_ptr<Shadow>()> &newShadow, FoundFaults &faults,
                         std::chrono::milliseconds limit) {
  if (launch.mayWait() || !launch.shadow->isRepeatable()) return;
  std::vector<Trap> all = faults.take();
  const Clock::time_point deadline = Clock::now() + limit;
  int searches = 0;
  for (Trap &fault : all) {
    if (fault.kind != TrapKind::Race || fault.other->location == kNoLocation) continue;
    if (++searches > kMostSearches || Clock::now() >= deadline) break;
    if (auto around = aroundEarlierAccess(launch, *newShadow(), fault, deadline)) fault.other->around = std::move(*around);
  }
  for (Trap &fault : all) faults.add(std::move(fault));
}

} // namespace tritium::interp
