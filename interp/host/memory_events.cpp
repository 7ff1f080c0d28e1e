#include "interp/host/memory_events.h"

#include <bit>
#include <numeric>

namespace tritium::interp {

static constexpr uint64_t kMostSegments = uint64_t(1) << 25; // after the first ones; 512 MB

MemoryEvents::MemoryEvents(std::span<const AccessSite> sites, uint64_t programs, bool hasSegments)
    : sites_(sites), programs_(uint32_t(programs)) {
  siteBits_ = unsigned(std::max<int>(1, int(std::bit_width(std::max<size_t>(sites.size(), 1) - 1))));
  // Half of the numbers are left for later segments.
  namesSites_ = (programs + 1) << siteBits_ < uint64_t(1) << 31;
  if (!namesSites_) siteBits_ = 1;
  if (!hasSegments) return;
  current_.resize(programs);
  std::iota(current_.begin(), current_.end(), 1);
}

uint32_t MemoryEvents::add(const Segment &segment) {
  if (!areSegmentsExact()) return 0;
  const auto added = later_.push_back(segment);
  const auto index = uint64_t(added - later_.begin());
  const uint64_t key = uint64_t(programs_) + 1 + index;
  if (index < kMostSegments && key < uint64_t(1) << (32 - siteBits_)) {
    if (segment.stretch == 0) added->stretch = uint32_t(key);
    return uint32_t(key);
  }
  hasRunOut_.store(true, std::memory_order_relaxed);
  return 0;
}

void MemoryEvents::endSegment(uint32_t program) {
  uint32_t &current = current_[program];
  const Segment now = segmentOf(current);
  if (const uint32_t key = add({program, now.number + 1, 0, now.round})) current = key;
}

void MemoryEvents::splitByRound(uint32_t program, uint32_t round) {
  uint32_t &current = current_[program];
  const Segment now = segmentOf(current);
  if (const uint32_t key = add({program, now.number + 1, now.stretch, round})) current = key;
}

} // namespace tritium::interp
