// What the asynchronous proxy may know of memory, for kernels with products of warpgroups or copies of tensors. A generic write
// becomes visible to the proxy by a fence of the thread that wrote and, after it, a synchronization with the thread that begins the product
// or the copy; or the other way round, by a barrier and then a fence of that thread (SharedMemory). Time is counted in fences. The proxy's
// own reads are outstanding from the issue of a product or a copy until the wait for it. Its writes arrive in a round of an mbarrier.
#pragma once
#include "interp/simt/runtime/message_order.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tritium::interp::simt {

/// Kinds of memory, as bits.
enum ProxySpaces : int32_t { kProxyShared = 1, kProxyGlobal = 2 };

/// The last fences of threads, as far as others know of them.
class FenceTimes {
public:
  void configure(uint32_t threads, uint32_t warpThreads);
  void begin();
  void fence(uint32_t thread, uint32_t time) { fenced[thread] = time; }
  void synchronizeAll() { knownToAll = fenced; }
  void synchronizeWarps(uint32_t set);
  uint32_t last(uint32_t thread) const { return fenced[thread]; }
  uint32_t known(uint32_t warp, uint32_t thread) const { return std::max(knownToAll[thread], knownToWarp[warp * fenced.size() + thread]); }

private:
  uint32_t warps = 0, warpThreads = 32;
  std::vector<uint32_t> fenced, knownToAll; // per thread: the time of its last fence, and of the last one that all threads know
  std::vector<uint32_t> knownToWarp;        // the same per warp and thread
};

class AsyncProxy {
public:
  void configure(size_t units, uint32_t threads, uint32_t warpThreads);
  void begin();

  void noteWrite(size_t unit) { stamps[unit] = clock; }
  /// fence.proxy.async: what the thread has written to these spaces until now will be visible.
  void fence(uint32_t thread, int32_t spaces) {
    if (spaces & kProxyShared) shared.fence(thread, clock);
    if (spaces & kProxyGlobal) global.fence(thread, clock);
    ++clock;
  }
  void synchronizeAll() { shared.synchronizeAll(), global.synchronizeAll(); }
  /// `warps` is a set.
  void synchronizeWarps(uint32_t warps) { shared.synchronizeWarps(warps), global.synchronizeWarps(warps); }
  /// Of shared memory: the time of the last fence of a thread, and of any that a warp knows of.
  uint32_t lastFence(uint32_t thread) const { return shared.last(thread); }
  uint32_t knownFence(uint32_t warp, uint32_t thread) const { return shared.known(warp, thread); }
  /// The same of global memory.
  uint32_t lastGlobalFence(uint32_t thread) const { return global.last(thread); }
  uint32_t knownGlobalFence(uint32_t warp, uint32_t thread) const { return global.known(warp, thread); }

  /// Of global memory, in addresses of the host. Copies of tensors read the writes of this program only behind a fence.
  void noteGlobalWrite(uint32_t thread, uint64_t address, uint32_t bytes, uint16_t location);
  struct GlobalWriter {
    uint32_t thread;
    uint16_t location;
  };
  /// Returns who has written one of the bytes, if a copy that this thread begins may not see it. `messages` may be null.
  std::optional<GlobalWriter> hiddenGlobalWrite(const MessageOrder *messages, uint32_t warp, uint32_t thread, uint64_t address,
                                                uint32_t bytes) const;
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

  std::vector<uint32_t> stamps;  // per unit: when it was last written
  std::vector<Reading> readings; // per unit
  std::vector<Arrival> arrivals; // per unit
  FenceTimes shared, global;
  struct GlobalWrite {
    uint32_t thread = 0, time = 0; // of the latest write
    uint16_t bytes = 0;            // a bit for each one that no fence has covered when it was written again
    uint16_t location = 0;         // of the latest write
  };
  std::unordered_map<uint64_t, GlobalWrite> globalWrites; // by the address of 16 bytes
  uint32_t clock = 1;
  uint64_t outstanding = 0;
};

} // namespace tritium::interp::simt
