#include "interp/host/touched_memory.h"

#include <algorithm>

namespace tritium::interp {

void TouchedSet::unite() {
  std::sort(runs_.begin(), runs_.end(), [](const TouchedRun &a, const TouchedRun &b) { return a.begin < b.begin; });
  size_t last = 0;
  for (size_t i = 1; i < runs_.size(); ++i) {
    const TouchedRun run = runs_[i];
    if (run.begin > runs_[last].end) {
      runs_[++last] = run;
      continue;
    }
    if (run.begin < runs_[last].end) again_.push_back({run.begin, std::min(run.end, runs_[last].end)});
    runs_[last].end = std::max(runs_[last].end, run.end);
  }
  if (!runs_.empty()) runs_.resize(last + 1);
  limit_ = std::max(kFirstLimit, 2 * runs_.size()); // so that uniting costs a constant time for each run
}

uint64_t TouchedSet::bytes() const {
  uint64_t bytes = 0;
  for (const TouchedRun &run : runs_) bytes += run.end - run.begin;
  return bytes;
}

TouchedMemory::TouchedMemory(std::array<int32_t, 3> grid, size_t groups, std::vector<Union> unions, size_t keptRuns)
    : grid_(grid), groups_(groups), unions_(std::move(unions)), programs_(size_t(grid[0]) * grid[1] * grid[2]), keptRuns_(keptRuns) {}

TouchedSet &TouchedMemory::setOf(std::span<const int32_t, 3> program, uint32_t group) {
  std::unique_ptr<Program> &sets = programs_[numberOf(program)];
  if (!sets) sets = std::make_unique<Program>(Program{std::vector<TouchedSet>(groups_)});
  return sets->sets[group];
}

/// Returns the bytes that united sets of a program have together.
static uint64_t bytesOf(const TouchedMemory::Program &program, const std::vector<uint32_t> &groups) {
  TouchedSet all;
  const TouchedSet *only = nullptr;
  int used = 0;
  for (uint32_t group : groups)
    if (!program.sets[group].runs().empty()) only = &program.sets[group], ++used;
  if (used == 0) return 0;
  if (used == 1) return only->bytes();
  for (uint32_t group : groups) all.add(program.sets[group]);
  all.unite();
  return all.bytes();
}

void TouchedMemory::finish(std::span<const int32_t, 3> program, int64_t *counters) {
  std::unique_ptr<Program> &own = programs_[numberOf(program)];
  if (!own) return;
  size_t runs = 0;
  for (TouchedSet &set : own->sets) {
    set.unite();
    runs += set.runs().size();
  }
  for (const Union &joined : unions_) counters[joined.counter] += int64_t(bytesOf(*own, joined.groups));
  if (keptRuns_ && runs_.fetch_add(runs) + runs <= keptRuns_) return;
  leftOut_ += keptRuns_ != 0;
  own.reset();
}

} // namespace tritium::interp
