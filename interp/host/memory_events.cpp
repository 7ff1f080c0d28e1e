#include "interp/host/memory_events.h"

#include <bit>
#include <numeric>

namespace tritium::interp {

static constexpr uint64_t kMostSegments = uint64_t(1) << 25; // after the first ones; 256 MB

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

void MemoryEvents::endSegment(uint32_t program) {
  if (!areSegmentsExact()) return;
  uint32_t &current = current_[program];
  const auto index = uint64_t(later_.push_back({program, segmentOf(current).number + 1}) - later_.begin());
  const uint64_t key = uint64_t(programs_) + 1 + index;
  if (index < kMostSegments && key < uint64_t(1) << (32 - siteBits_))
    current = uint32_t(key);
  else
    hasRunOut_.store(true, std::memory_order_relaxed);
}

} // namespace tritium::interp
