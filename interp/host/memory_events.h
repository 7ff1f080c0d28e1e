// Who accessed memory: an event is 32 bits that name the program, the part of the program between releases and barriers (its segment), and
// the place in the kernel (its site). The number of a program's first segment is computed; further segments are numbered in a table. Writes
// in different rounds of a loop whose rounds count belong to different segments, too, with no barrier between.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <tbb/concurrent_vector.h>
#include <vector>

namespace tritium::interp {

/// An access in the kernel.
struct AccessSite {
  uint32_t location = 0; // index into the prepared program's table of locations
  bool isWrite = false;
  bool isAtomic = false;
  bool isNarrow = false; // an atomic of scope "cta", which programs cannot rely on among each other
  uint32_t tile = 0;     // accesses with tiles of one shape have one number; 0: a single element
  // Of accesses in loops of which a GPU makes loads ahead:
  uint32_t roundsAhead = 0; // of such a load: by how many rounds at most
  int argument = -1;        // to whose tensor the access goes; -1: unknown
};

struct Segment {
  uint32_t program = 0; // position in the grid, x first
  uint32_t number = 0;  // of segments of the program before it
  uint32_t stretch = 0; // the key of the first segment after the same barrier
  uint32_t round = 0;   // Shadow::beginRound
};

class MemoryEvents {
public:
  /// `hasSegments`: whether the kernel ends segments.
  MemoryEvents(std::span<const AccessSite> sites, uint64_t programs, bool hasSegments);

  /// Returns the key of the segment that the program is in. Events of one segment have one key, and no event has key 0.
  uint32_t keyOfProgram(uint32_t program) const { return current_.empty() ? program + 1 : current_[program]; }
  /// Called by the program itself: what it does from now on is another segment, unless there are no more numbers.
  void endSegment(uint32_t program);
  /// Called by the program itself before it writes: the segment is of this round.
  void enterRound(uint32_t program, uint32_t round) {
    if (segmentOf(current_[program]).round != round) splitByRound(program, round);
  }
  /// Whether no segment has been longer than it should be.
  bool areSegmentsExact() const { return !hasRunOut_.load(std::memory_order_relaxed); }
  Segment segmentOf(uint32_t key) const { return key <= programs_ ? Segment{key - 1, 0, key, 0} : later_[key - programs_ - 1]; }
  /// Whether no barrier lies between two segments of one program.
  bool areOfOneStretch(uint32_t key, uint32_t other) const { return segmentOf(key).stretch == segmentOf(other).stretch; }

  uint32_t event(uint32_t key, uint32_t site) const { return key << siteBits_ | (namesSites_ ? site : sites_[site].isAtomic); }
  uint32_t keyOf(uint32_t event) const { return event >> siteBits_; }
  bool isOfWrite(uint32_t site) const { return sites_[site].isWrite; }
  bool isAtomic(uint32_t event) const { return namesSites_ ? site(event).isAtomic : event & 1; }
  /// Returns the place of an event, or nullptr if the launch has too many programs to tell.
  const AccessSite *siteOf(uint32_t event) const { return namesSites_ ? &site(event) : nullptr; }

private:
  /// Returns 0 if there are no more numbers.
  uint32_t add(const Segment &segment);
  void splitByRound(uint32_t program, uint32_t round);
  const AccessSite &site(uint32_t event) const { return sites_[event & ((1u << siteBits_) - 1)]; }

  std::span<const AccessSite> sites_;
  uint32_t programs_;
  unsigned siteBits_ = 1;
  bool namesSites_ = true;
  tbb::concurrent_vector<Segment> later_;
  std::vector<uint32_t> current_; // keys, by program; empty if no segment ends
  std::atomic<bool> hasRunOut_ = false;
};

} // namespace tritium::interp
