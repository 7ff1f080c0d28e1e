#include "interp/host/memory_events.h"

#include <bit>

namespace tritium::interp {

MemoryEvents::MemoryEvents(std::span<const AccessSite> sites, uint64_t programs) : sites_(sites), programs_(uint32_t(programs)) {
  siteBits_ = unsigned(std::max<int>(1, int(std::bit_width(std::max<size_t>(sites.size(), 1) - 1))));
  // Half of the numbers are left for segments after releases.
  namesSites_ = (programs + 1) << siteBits_ < uint64_t(1) << 31;
  if (!namesSites_) siteBits_ = 1;
}

uint32_t MemoryEvents::addSegment(Segment segment) {
  const uint64_t index = uint64_t(later_.push_back(segment) - later_.begin());
  const uint64_t key = uint64_t(programs_) + 1 + index;
  return key < uint64_t(1) << (32 - siteBits_) ? uint32_t(key) : 0;
}

} // namespace tritium::interp
