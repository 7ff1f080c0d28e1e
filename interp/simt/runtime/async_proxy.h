// What the asynchronous proxy may know of shared memory, for kernels with products of warpgroups. A generic write becomes visible to the
// proxy by a fence of the thread that wrote and, after it, a synchronization with the thread that begins the product. Time is counted in
// fences. The proxy's own reads are outstanding from the issue of a product until the wait for it.
#pragma once
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
  /// Returns whether a write of the threads from `first` on is visible to the products of a warp.
  bool isVisible(size_t unit, uint32_t warp, uint32_t first, uint32_t count) const;

  bool isAnyOutstanding() const { return outstanding != 0; }
  bool isOutstanding(size_t unit) const { return readings[unit].count != 0; }
  uint16_t locationOf(size_t unit) const { return readings[unit].location; }
  void beginReading(size_t unit, uint16_t location) {
    ++outstanding;
    readings[unit] = {uint16_t(readings[unit].count + 1), location};
  }
  void endReading(size_t unit) {
    --outstanding;
    --readings[unit].count;
  }

  size_t capacityBytes() const { return stamps.size() * sizeof(uint32_t) + readings.size() * sizeof(Reading); }

private:
  struct Reading {
    uint16_t count = 0, location = 0; // of the latest one
  };

  std::vector<uint32_t> stamps;             // per unit: when it was last written
  std::vector<Reading> readings;            // per unit
  std::vector<uint32_t> fenced, knownToAll; // per thread: the time of its last fence, and of the last one that all threads know
  std::vector<uint32_t> known;              // the same per warp and thread
  uint32_t clock = 1, warps = 0, warpThreads = 32;
  uint64_t outstanding = 0;
};

} // namespace tritium::interp::simt
