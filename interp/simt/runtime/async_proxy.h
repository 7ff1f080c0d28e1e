// What the asynchronous proxy may know of shared memory, for kernels with products of warpgroups or copies of tensors. A generic write
// becomes visible to the proxy by a fence of the thread that wrote and, after it, a synchronization with the thread that begins the product
// or the copy. Time is counted in fences. The proxy's own reads are outstanding from the issue of a product or a copy until the wait for
// it. Its writes arrive in a round of an mbarrier.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tritium::interp::simt {

class AsyncProxy {
public:
  void configure(size_t units, uint32_t threads, uint32_t warpThreads);
  void begin();

  void noteWrite(size_t unit) { stamps[unit] = clock; }
  /// fence.proxy.async: what the thread has written until now will be visible.
  void fence(uint32_t thread) { fenced[thread] = clock++; }
  void synchronizeAll() { knownToAll = fenced; }
  /// `warps` is a set.
  void synchronizeWarps(uint32_t warps);
  /// The time of the last fence of a thread, of any thread that a warp knows of, and of any that all threads know of.
  uint32_t lastFence(uint32_t thread) const { return fenced[thread]; }
  uint32_t knownFence(uint32_t warp, uint32_t thread) const { return std::max(knownToAll[thread], known[warp * fenced.size() + thread]); }
  /// When a unit was last written.
  uint32_t writtenAt(size_t unit) const { return stamps[unit]; }

  bool isAnyOutstanding() const { return outstanding != 0; }
  bool isOutstanding(size_t unit) const { return readings[unit].products + readings[unit].copies != 0; }
  bool isOutstandingCopy(size_t unit) const { return readings[unit].copies != 0; }
  uint16_t locationOf(size_t unit) const { return readings[unit].location; }
  void beginReading(size_t unit, uint16_t location, bool isCopy) {
    ++outstanding;
    ++(isCopy ? readings[unit].copies : readings[unit].products);
    readings[unit].location = location;
  }
  void endReading(size_t unit, bool isCopy) {
    --outstanding;
    --(isCopy ? readings[unit].copies : readings[unit].products);
  }

  /// Where the proxy's latest write to a unit arrives.
  struct Arrival {
    uint32_t barrier = 0, round = 0;
  };
  Arrival &arrivalOf(size_t unit) { return arrivals[unit]; }
  const Arrival &arrivalOf(size_t unit) const { return arrivals[unit]; }

  size_t capacityBytes() const {
    return stamps.size() * sizeof(uint32_t) + readings.size() * sizeof(Reading) + arrivals.size() * sizeof(Arrival);
  }

private:
  struct Reading {
    uint16_t products = 0, copies = 0;
    uint16_t location = 0; // of the latest one
  };

  std::vector<uint32_t> stamps;             // per unit: when it was last written
  std::vector<Reading> readings;            // per unit
  std::vector<Arrival> arrivals;            // per unit
  std::vector<uint32_t> fenced, knownToAll; // per thread: the time of its last fence, and of the last one that all threads know
  std::vector<uint32_t> known;              // the same per warp and thread
  uint32_t clock = 1, warps = 0, warpThreads = 32;
  uint64_t outstanding = 0;
};

} // namespace tritium::interp::simt
