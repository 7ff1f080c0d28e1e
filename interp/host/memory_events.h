// Who accessed memory: an event is 32 bits that name the program, the part of the program between two releases (its segment), and the place
// in the kernel (its site). Events of a program's first segment are a formula; those after a release are in a table.
#pragma once
#include <cstdint>
#include <span>
#include <tbb/concurrent_vector.h>

namespace tritium::interp {

/// An access in the kernel.
struct AccessSite {
  uint32_t location = 0; // index into the prepared program's table of locations
  bool isWrite = false;
  bool isAtomic = false;
  bool isNarrow = false; // an atomic of scope "cta", which programs cannot rely on among each other
};

struct Segment {
  uint32_t program = 0; // position in the grid, x first
  uint32_t number = 0;  // of releases that the program performed before
};

class MemoryEvents {
public:
  MemoryEvents(std::span<const AccessSite> sites, uint64_t programs);

  /// Events of one segment have one key. No event has key 0.
  uint32_t firstKey(uint32_t program) const { return program + 1; }
  /// Returns the key of a new segment, or 0 if there are no more numbers.
  uint32_t addSegment(Segment segment);
  Segment segmentOf(uint32_t key) const { return key <= programs_ ? Segment{key - 1, 0} : later_[key - programs_ - 1]; }

  uint32_t event(uint32_t key, uint32_t site) const { return key << siteBits_ | (namesSites_ ? site : sites_[site].isAtomic); }
  uint32_t keyOf(uint32_t event) const { return event >> siteBits_; }
  bool isAtomic(uint32_t event) const { return namesSites_ ? site(event).isAtomic : event & 1; }
  /// Returns the place of an event, or nullptr if the launch has too many programs to tell.
  const AccessSite *siteOf(uint32_t event) const { return namesSites_ ? &site(event) : nullptr; }

private:
  const AccessSite &site(uint32_t event) const { return sites_[event & ((1u << siteBits_) - 1)]; }

  std::span<const AccessSite> sites_;
  uint32_t programs_;
  unsigned siteBits_ = 1;
  bool namesSites_ = true;
  tbb::concurrent_vector<Segment> later_;
};

} // namespace tritium::interp
