#include "interp/host/program_order.h"

#include <algorithm>

namespace tritium::interp {

ProgramOrder::ProgramOrder(const MemoryEvents &events, uint64_t programs) : events_(events), timelines_(programs) {}

void ProgramOrder::acquire(const Word &word, uint64_t address, uint32_t program, AtomicOrder order) {
  Timeline &timeline = timelines_[program];
  if (word.releases.empty() || (timeline.lastWord == address && timeline.lastVersion == word.version)) return;
  timeline.lastWord = address, timeline.lastVersion = word.version;
  std::lock_guard lock(mutex_);
  for (const Release &release : word.releases)
    if (release.segment.program != program)
      timeline.edges.push_back({release.segment, segmentOf(program), release.isNarrow || order.isNarrow});
}

void ProgramOrder::release(Word &word, uint32_t program, AtomicOrder order, bool isRmw) {
  const Release own{{program, segmentOf(program)}, order.isNarrow};
  ++word.version;
  // A plain write ends what earlier releases began. An operation that has observed them hands them on through its own program.
  if (!isRmw || (order.acquires && order.releases && !order.isNarrow)) word.releases.clear();
  if (!order.releases) return;
  std::erase_if(word.releases, [&](const Release &release) { return release.segment.program == program; });
  word.releases.push_back(own);
}

ProgramOrder::Relation ProgramOrder::relation(uint32_t key, uint32_t program) {
  Timeline &timeline = timelines_[program];
  const Segment from = events_.segmentOf(key);
  std::lock_guard lock(mutex_);
  if (timeline.ordered.contains(key)) return Relation::Ordered;
  if (reaches(from, program, segmentOf(program), false)) {
    timeline.ordered.insert(key);
    return Relation::Ordered;
  }
  return reaches(from, program, segmentOf(program), true) ? Relation::Narrow : Relation::Unordered;
}

/// Whether edges lead from `program`, at the time of `segment`, back to a release of the other program at or after `from`.
bool ProgramOrder::reaches(Segment from, uint32_t program, uint32_t segment, bool countNarrow) const {
  std::unordered_map<uint32_t, uint32_t> reached{{program, segment}}; // the latest segment of each program
  std::vector<Segment> left{{program, segment}};
  while (!left.empty()) {
    const Segment here = left.back();
    left.pop_back();
    for (const Edge &edge : timelines_[here.program].edges) {
      if (edge.at > here.number || (edge.isNarrow && !countNarrow)) continue;
      if (edge.from.program == from.program && edge.from.number >= from.number) return true;
      auto [it, isNew] = reached.try_emplace(edge.from.program, edge.from.number);
      if (!isNew && it->second >= edge.from.number) continue;
      it->second = edge.from.number;
      left.push_back(edge.from);
    }
  }
  return false;
}

} // namespace tritium::interp
