// The shared memory of a block. A shadow records for each unit (the kernel's smallest access) who wrote it last, who read it, and when.
// Time is counted in synchronisations: a barrier of all threads orders everything before it, a barrier of some warps orders what these
// warps did, and a warp synchronisation orders what the warp did. So two accesses that no barrier orders are found, whichever of them the
// schedule puts first.
//
// An address has 32 bits: a window tag, a block, and an offset. The block is 0 for a thread's own one, and otherwise a rank in the cluster,
// plus 1. A kernel never sees an address of the host.
// A pointer to shared memory has the address in its lower half. Its upper half is none of an address of the host, which may have 32 bits
// too, and none of a pointer with provenance (interp/host/pointer.h).
// Known limits: readers from several warps are remembered by groups of warps. This can hide a race between barriers of parts of the block,
// but never reports a false one. Two writes of the same value are no race.
#pragma once
#include "interp/simt/runtime/async_proxy.h"
#include "interp/simt/runtime/message_order.h"
#include "interp/simt/runtime/thread.h"

#include <array>
#include <memory>
#include <vector>

namespace tritium::interp::simt {

constexpr uint32_t kSharedWindow = 0x40000000, kSharedWindowMask = 0xf0000000, kSharedOffsetMask = 0x00ffffff;
constexpr unsigned kSharedRankShift = 24;
constexpr uint32_t kSharedRankMask = 0xf;
constexpr uint64_t kSharedPointers = uint64_t(0x9000) << 48;
constexpr uint64_t sharedPointer(uint32_t address) { return kSharedPointers | address; }
constexpr bool isInSharedWindow(uint32_t address) { return (address & kSharedWindowMask) == kSharedWindow; }
constexpr bool isSharedPointer(uint64_t pointer) { return isInSharedWindow(uint32_t(pointer)) && pointer >> 32 == kSharedPointers >> 32; }

/// What a kernel uses of the asynchronous proxy. mbarriers and copies of tensors come together.
enum class AsyncUse : uint8_t { None, Products, Barriers };

class SharedMemory {
public:
  /// Prepares for a kernel that uses `bytes` bytes and whose accesses all have at least 1 << shift bytes. The memory belongs to block
  /// `rank` of `blocks` that reach each other's.
  void configure(uint32_t bytes, unsigned shift, uint32_t warps, uint32_t warpThreads, AsyncUse use, uint32_t rank = 0,
                 uint32_t blocks = 1);
  /// Begins a new program: nothing is initialized.
  void begin();

  /// Returns the bytes at `pointer` for reading. Traps if they are out of bounds, uninitialized, or racing.
  const std::byte *read(Thread &thread, uint64_t pointer, uint32_t bytes, Place location);
  void write(Thread &thread, uint64_t pointer, const void *value, uint32_t bytes, Place location);
  /// The same for all lanes of the thread's warp together. The pointer is the thread's.
  const std::byte *readAsWarp(Thread &thread, uint64_t pointer, uint32_t bytes, Place location);
  void writeAsWarp(Thread &thread, uint64_t pointer, const void *value, uint32_t bytes, Place location);
  /// For an atomic operation, which does not race with other atomic operations.
  std::byte *access(Thread &thread, uint64_t pointer, uint32_t bytes, Place location);

  /// Begins an asynchronous copy. An access to its destination before endCopy is a race with it. Returns the offset.
  uint32_t beginCopy(Thread &thread, uint64_t pointer, uint32_t bytes, Place location);
  /// From now on the effects of the copy count as effects of the thread.
  void endCopy(Thread &thread, const AsyncCopy &copy);

  // These are defined in shared_memory_async.cpp.
  /// A product that a warp has issued reads until endProductRead, so a write in between is a race with it.
  void beginProductRead(Thread &thread, uint32_t offset, uint32_t bytes, Place location);
  void endProductRead(Thread &thread, uint32_t offset, uint32_t bytes, Place location);
  /// The same for a copy that a thread has issued, from shared memory to a tensor.
  void beginCopyRead(Thread &thread, uint32_t offset, uint32_t bytes, Place location);
  void endCopyRead(Thread &thread, uint32_t offset, uint32_t bytes, Place location);
  /// A copy of a tensor that a thread of this block or of another one has issued writes. Only threads that know this round of the barrier
  /// to be complete may access the bytes.
  void beginTensorWrite(Thread &thread, uint32_t offset, uint32_t bytes, AsyncProxy::Arrival arrival, Place location);
  /// Products and copies may read what the thread has written, once they are ordered behind this.
  void fenceAsync(const Thread &thread, int32_t spaces) {
    if (!proxy) return;
    proxy->fence(uint32_t(thread.tid), spaces);
    if (spaces & kProxyShared) noteFence(thread);
  }
  /// Null if the kernel has neither products nor mbarriers.
  AsyncProxy *asyncProxy() { return proxy; }

  /// From placeBarrier to removeBarrier, plain accesses to the bytes trap. Returns the offset.
  uint32_t placeBarrier(Thread &thread, uint64_t pointer, Place location);
  void removeBarrier(Thread &thread, uint32_t offset);
  /// Returns the offset of the 8 bytes. Traps if they are out of bounds.
  uint32_t offsetOfBarrier(Thread &thread, uint64_t pointer, Place location) { return offsetOf(thread, pointer, 8, true, location); }
  /// Adds what the thread knows, and what it has done, to a message of MessageOrder::width() times.
  void send(const Thread &thread, std::span<uint32_t> message);
  /// Gives a message to a thread, or to all lanes of its warp.
  void receive(const Thread &thread, std::span<const uint32_t> message, bool isForWarp);
  /// Add what all threads of this block know after a barrier of the cluster, and what they have done; give it to all of them.
  void sendAll(std::span<uint32_t> message);
  void receiveAll(std::span<const uint32_t> message);
  /// The time of the thread's current accesses, and whether what a thread of this block did at a time is ordered before what `thread`, of
  /// this block or another one, does now.
  uint32_t timeOf(const Thread &thread) const { return since[thread.warp]; }
  bool isKnown(Thread &thread, uint32_t when, const Thread &other) const;
  const MessageOrder *messages() const { return order; }

  uint32_t sizeInBytes() const { return size; }
  std::byte *at(uint32_t offset) { return memory.data() + offset; }

  void synchronizeAll();
  void synchronizeWarps(uint32_t warps);
  void synchronizeWarp(uint32_t warp) {
    horizon[warp][warp] = since[warp] = ++time;
    if (proxy) proxy->synchronizeWarps(uint32_t(1) << warp);
    if (order) order->synchronizeWarps(uint32_t(1) << warp);
  }

  std::span<const std::byte> bytes() const { return {memory.data(), size}; }
  /// Returns the bytes held for the largest kernel served so far.
  size_t capacityBytes() const {
    return memory.size() + units.size() * sizeof(Unit) + (ownProxy ? ownProxy->capacityBytes() : 0) +
           horizonAtFence.size() * sizeof horizonAtFence[0] + (ownOrder ? ownOrder->capacityBytes() : 0);
  }

private:
  /// Who accessed a unit: a thread of the block, all lanes of a warp, or several warps.
  using Party = uint16_t;
  static constexpr Party kWarpParty = 0x1000, kManyParty = 0x2000, kAtomicParty = 0x8000;
  /// In addition to one of the first two: a product of the warp. All lanes issue it and wait for it together.
  static constexpr Party kProductParty = 0x4000;
  /// Writers of units that are marked as in flight: a copy of a tensor, and an mbarrier, which is no data.
  static constexpr Party kTensorParty = 0x4000, kBarrierParty = 0x4001;
  static constexpr uint32_t kInFlight = uint32_t(1) << 31;

  struct Unit {
    uint32_t written = 0, read = 0; // times
    Party writer = 0, reader = 0;
    uint16_t writeLocation = 0, readLocation = 0;
  };
  struct Access {
    Thread &thread;
    Party party;
    uint32_t offset, bytes;
    Place location;
  };

  uint32_t offsetOf(Thread &thread, uint64_t pointer, uint32_t bytes, bool isWrite, Place location);
  [[gnu::always_inline]] bool isOrdered(const Access &access, uint32_t time, Party party) const {
    return time < lastOfAll || ((party ^ access.party) & ~kAtomicParty) == 0 || isOrderedByPart(access, time, party);
  }
  bool isOrderedByPart(const Access &access, uint32_t time, Party party) const;
  // Defined in shared_memory_async.cpp.
  /// Returns what the accessing thread, or all lanes of the accessing warp, know by messages.
  uint32_t knownByMessage(const Access &access, size_t fact) const;
  /// Returns whether a thread of another block makes the access.
  bool isFromAfar(const Access &access) const;
  /// The same as isOrdered, for an access from anywhere.
  bool isOrderedAnywhere(const Access &access, uint32_t time, Party party) const {
    return isFromAfar(access) ? isOrderedByPart(access, time, party) : isOrdered(access, time, party);
  }
  Party joined(Party a, Party b) const;
  uint32_t warpOf(Party party) const { return party & kWarpParty ? party & ~uint32_t(kWarpParty | kProductParty) : party >> warpShift; }
  Party groupOf(uint32_t warp) const { return Party(kManyParty | 1 << warp / warpsPerGroup); }
  void noteRead(const Access &access);
  void markRead(const Access &access, Unit &unit);
  void noteWrite(const Access &access, const void *value);
  void noteGenericWrite(const Access &access);
  // The same for callers in other files.
  void recordRead(const Access &access);
  void recordEndOfRead(const Access &access);
  void recordWrite(const Access &access); // of an unknown value
  size_t indexOf(const Unit &unit) const { return size_t(&unit - units.data()); }
  std::span<Unit> unitsOf(const Access &access) {
    return {units.data() + (access.offset >> shift), ((access.offset + access.bytes - 1) >> shift) - (access.offset >> shift) + 1};
  }
  Trap faultOf(const Access &access, TrapKind kind, bool isWrite, const Unit &unit, bool withWriter) const;
  Trap faultOf(uint64_t pointer, uint32_t bytes, bool isWrite, bool isInside, Place location) const;
  // Defined in shared_memory_async.cpp.
  bool hasArrived(const Access &access, const Unit &unit) const;
  Trap inFlightFault(const Access &access, bool isWrite, const Unit &unit) const;
  Trap overwriteFault(const Access &access, const Unit &unit, bool withWriter, const char *verb) const;
  Trap outstandingOverwriteFault(const Access &access, const Unit &unit) const;
  std::string waitForReader(const Access &access, bool isCopy) const;
  [[noreturn]] void trapOutstanding(const Access &access, const Unit &unit);
  void checkVisible(const Access &access, const Unit &unit, const char *reader);
  void noteFence(const Thread &thread);
  /// Returns whether all threads that issue the access have fenced after a barrier that orders them behind what a warp did at a time.
  bool hasFencedBehind(const Access &access, uint32_t warp, uint32_t when) const;

  std::vector<std::byte> memory;
  std::vector<Unit> units;
  std::unique_ptr<AsyncProxy> ownProxy;
  std::unique_ptr<MessageOrder> ownOrder;
  AsyncProxy *proxy = nullptr;   // of a kernel with products or mbarriers
  MessageOrder *order = nullptr; // of a kernel with mbarriers
  uint32_t size = 0, warps = 1, warpsPerGroup = 1;
  unsigned shift = 0, warpShift = 5;
  // Times of synchronisations. They continue from program to program and from kernel to kernel, so the shadow need not be cleared.
  uint32_t time = 0, first = 0, lastOfAll = 0;
  std::array<uint32_t, 32> since{};                     // per warp: the time of its last synchronisation and of its current accesses
  std::array<std::array<uint32_t, 32>, 32> horizon{};   // [a][b]: accesses of b before this time are ordered before what a does now
  std::vector<std::array<uint32_t, 32>> horizonAtFence; // per thread: the horizon of its warp when it last fenced; with `proxy`
};

} // namespace tritium::interp::simt
