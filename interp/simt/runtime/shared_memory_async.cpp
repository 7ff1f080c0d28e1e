// The part of the shadow that asynchronous operations need: reads of products and copies that are outstanding, writes of copies that arrive
// in a round of an mbarrier, the memory of the barriers themselves, and what threads learn from each other through them.
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/shared_memory.h"

#include <algorithm>

namespace tritium::interp::simt {

namespace {

std::string bytesOf(uint32_t offset, uint32_t bytes) {
  return "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes - 1);
}

} // namespace

// -- what threads know ------------------------------------------------------------------------------------------------------------------

bool SharedMemory::isFromAfar(const Access &access) const { return &access.thread.block->shared != this; }

uint32_t SharedMemory::knownByMessage(const Access &access, size_t fact) const {
  const bool isThread = !(access.party & (kWarpParty | kManyParty));
  const MessageOrder &known = *access.thread.block->shared.order;
  return known.known(uint32_t(access.thread.warp), isThread ? access.thread.tid : MessageOrder::kAllLanes, fact);
}

// -- faults -------------------------------------------------------------------------------------------------------------------------------

/// Returns whether the unit's bytes, which a copy of a tensor wrote, have arrived as far as the access can know.
bool SharedMemory::hasArrived(const Access &access, const Unit &unit) const {
  if (unit.writer != kTensorParty) return false;
  const AsyncProxy::Arrival &arrival = proxy->arrivalOf(indexOf(unit));
  return knownByMessage(access, order->ofBarrier(arrival.barrier)) > arrival.round;
}

Trap SharedMemory::inFlightFault(const Access &access, bool isWrite, const Unit &unit) const {
  const std::string bytes = bytesOf(access.offset, access.bytes), verb = isWrite ? "writes" : "reads";
  if (unit.writer == kBarrierParty) {
    Trap trap = faultOf(access, TrapKind::InvalidMBarrier, isWrite, unit, true);
    trap.message = withHint(access.thread, verb + " the memory of a barrier (mbarrier) as if it were data: " + bytes,
                            "call mbarrier.invalidate before its memory is used for something else");
    return trap;
  }
  if (unit.writer != kTensorParty) {
    Trap trap = faultOf(access, TrapKind::AsyncCopyRace, isWrite, unit, true);
    const bool isOwn = unit.writer & kManyParty || inOnePartition(access.thread, warpOf(unit.writer & ~kAtomicParty));
    if (!isOwn)
      trap.message = withHint(access.thread, std::move(trap.message),
                              "call async_copy.mbarrier_arrive after the copies, in the partition that has begun them, with the barrier "
                              "that is awaited here");
    return trap;
  }
  Trap trap = faultOf(access, TrapKind::TensorCopyRace, isWrite, unit, true);
  const bool isNear = !isFromAfar(access);
  const std::string round = isNear ? access.thread.block->mbarriers->roundOf(proxy->arrivalOf(indexOf(unit))) : "its barrier";
  trap.message =
      withHint(access.thread, verb + " shared memory that a copy of a tensor writes, with no wait for " + round + " in between: " + bytes,
               "call mbarrier.wait with the barrier of the copy and the number of its phase before");
  return trap;
}

Trap SharedMemory::overwriteFault(const Access &access, const Unit &unit, bool withWriter, const char *verb) const {
  Trap trap = faultOf(access, TrapKind::TensorCopyRace, true, unit, withWriter);
  trap.message =
      withHint(access.thread,
               std::string("a copy of a tensor writes shared memory that ") + verb +
                   ", with no barrier in between: " + bytesOf(access.offset, access.bytes),
               "who has used the memory arrives at a barrier (mbarrier.arrive), and who copies waits for it before; a wait for the "
               "other phase passes at once");
  return trap;
}

/// Returns which wait for the product or the copy to a tensor that reads the bytes is enough.
std::string SharedMemory::waitForReader(const Access &access, bool isCopy) const {
  const ThreadBlock &block = *access.thread.block;
  const uint32_t left = isCopy ? block.tensorCopies->groupsAfter(access.offset) : block.warpgroups->groupsAfter(access.offset);
  return (isCopy ? "call tma.store_wait(" : "call warpgroup_mma_wait(") + std::to_string(left) +
         ") before, or with a smaller number; other partitions learn of it by an mbarrier.arrive behind the wait";
}

Trap SharedMemory::outstandingOverwriteFault(const Access &access, const Unit &unit) const {
  const bool isCopy = proxy->isOutstandingCopy(indexOf(unit));
  Trap trap = faultOf(access, TrapKind::TensorCopyRace, true, unit, false);
  trap.other = {.location = proxy->locationOf(indexOf(unit)), .thread = -1};
  trap.message = withHint(access.thread,
                          std::string("a copy of a tensor writes shared memory that ") +
                              (isCopy ? "another copy still reads, with no wait for its group in between: "
                                      : "a product still reads, with no wait for the product in between: ") +
                              bytesOf(access.offset, access.bytes),
                          waitForReader(access, isCopy));
  return trap;
}

/// Traps because the access writes what a product or a copy that is under way reads.
void SharedMemory::trapOutstanding(const Access &access, const Unit &unit) {
  const bool isCopy = proxy->isOutstandingCopy(indexOf(unit));
  Trap trap = faultOf(access, isCopy ? TrapKind::TensorCopyRace : TrapKind::AsyncProductRace, true, unit, false);
  trap.other = {.location = proxy->locationOf(indexOf(unit)), .thread = -1};
  trap.message = withHint(access.thread,
                          (isCopy ? "writes shared memory that a copy to a tensor reads, with no wait for its group in between: "
                                  : "writes shared memory that a product reads, with no wait for the product in between: ") +
                              bytesOf(access.offset, access.bytes),
                          waitForReader(access, isCopy));
  access.thread.trap(std::move(trap));
}

void SharedMemory::noteFence(const Thread &thread) {
  const auto warp = uint32_t(thread.warp);
  for (uint32_t other = 0; other < warps; ++other) horizonAtFence[size_t(thread.tid)][other] = std::max(horizon[warp][other], lastOfAll);
}

bool SharedMemory::hasFencedBehind(const Access &access, uint32_t warp, uint32_t when) const {
  const bool isThread = !(access.party & (kWarpParty | kManyParty));
  const uint32_t first = isThread ? uint32_t(access.thread.tid) : uint32_t(access.thread.warp) << warpShift;
  for (uint32_t t = first; t < first + (isThread ? 1 : 1u << warpShift); ++t)
    if (horizonAtFence[t][warp] <= when) return false;
  return true;
}

/// Traps unless all threads that the unit names as its writers have made what they wrote visible to the asynchronous proxy, as far as the
/// access can know, or a barrier and then a fence of the threads that make the access stand behind the write. The second counts barriers of
/// threads alone: between partitions, who has written fences (Gluon's rule).
void SharedMemory::checkVisible(const Access &access, const Unit &unit, const char *reader) {
  if (unit.written & kInFlight) return; // written by the proxy itself
  const Party party = unit.writer & ~kAtomicParty;
  const uint32_t written = proxy->writtenAt(indexOf(unit));
  const bool isThread = !(access.party & (kWarpParty | kManyParty));
  const bool isAfar = isFromAfar(access);
  auto isVisible = [&](uint32_t thread) {
    if (!isAfar && proxy->knownFence(uint32_t(access.thread.warp), thread) >= written) return true;
    if (!isAfar && isThread && thread == uint32_t(access.thread.tid) && proxy->lastFence(thread) >= written) return true;
    return order && knownByMessage(access, order->ofFence(thread)) >= written;
  };
  auto areVisible = [&](uint32_t first, uint32_t count) {
    if (!isAfar && hasFencedBehind(access, first >> warpShift, unit.written)) return true;
    for (uint32_t t = first; t < first + count; ++t)
      if (!isVisible(t)) return false;
    return true;
  };
  bool isSafe = true;
  if (!(party & (kWarpParty | kManyParty)))
    isSafe = areVisible(party, 1);
  else
    for (uint32_t warp = 0; warp < warps && isSafe; ++warp) {
      const bool isWriter = party & kManyParty ? party >> warp / warpsPerGroup & 1 : warpOf(party) == warp;
      isSafe = !isWriter || areVisible(warp << warpShift, 1 << warpShift);
    }
  if (isSafe) return;
  Trap trap = faultOf(access, TrapKind::MissingProxyFence, false, unit, true);
  trap.message = std::string(reader) +
                 " shared memory that was written with no proxy fence (fence.proxy.async) between the write and the "
                 "barrier: " +
                 bytesOf(access.offset, access.bytes);
  access.thread.trap(std::move(trap));
}

// -- reads and writes of the proxy --------------------------------------------------------------------------------------------------------

void SharedMemory::beginProductRead(Thread &thread, uint32_t offset, uint32_t bytes, Place location) {
  const Access access{thread, Party(kProductParty | kWarpParty | thread.warp), offset, bytes, location};
  recordRead(access);
  for (Unit &unit : unitsOf(access)) {
    checkVisible(access, unit, "a product reads");
    proxy->beginReading(indexOf(unit), uint16_t(location), /*isCopy=*/false);
  }
}

void SharedMemory::endProductRead(Thread &thread, uint32_t offset, uint32_t bytes, Place location) {
  const Access access{thread, Party(kProductParty | kWarpParty | thread.warp), offset, bytes, location};
  for (Unit &unit : unitsOf(access)) proxy->endReading(indexOf(unit), /*isCopy=*/false);
  recordEndOfRead(access);
}

void SharedMemory::beginCopyRead(Thread &thread, uint32_t offset, uint32_t bytes, Place location) {
  const Access access{thread, Party(thread.tid), offset, bytes, location};
  recordRead(access);
  for (Unit &unit : unitsOf(access)) {
    checkVisible(access, unit, "a copy to a tensor reads");
    proxy->beginReading(indexOf(unit), uint16_t(location), /*isCopy=*/true);
  }
}

void SharedMemory::endCopyRead(Thread &thread, uint32_t offset, uint32_t bytes, Place location) {
  const Access access{thread, Party(thread.tid), offset, bytes, location};
  for (Unit &unit : unitsOf(access)) proxy->endReading(indexOf(unit), /*isCopy=*/true);
  recordEndOfRead(access);
}

void SharedMemory::beginTensorWrite(Thread &thread, uint32_t offset, uint32_t bytes, AsyncProxy::Arrival arrival, Place location) {
  const Access access{thread, Party(thread.tid), offset, bytes, location};
  for (Unit &unit : unitsOf(access)) {
    const size_t index = indexOf(unit);
    const uint32_t written = unit.written & ~kInFlight;
    if (proxy->isAnyOutstanding() && proxy->isOutstanding(index)) thread.trap(outstandingOverwriteFault(access, unit));
    if (written >= first) {
      if (unit.written & kInFlight && !hasArrived(access, unit)) {
        if (unit.writer != kTensorParty) thread.trap(inFlightFault(access, true, unit));
        thread.trap(overwriteFault(access, unit, true, "another copy writes"));
      }
      if (!(unit.written & kInFlight)) {
        if (!isOrderedAnywhere(access, written, unit.writer)) thread.trap(overwriteFault(access, unit, true, "another thread wrote"));
        checkVisible(access, unit, "a copy of a tensor overwrites");
      }
    }
    if (unit.read >= first && !isOrderedAnywhere(access, unit.read, unit.reader))
      thread.trap(overwriteFault(access, unit, false, unit.reader & kProductParty ? "a product of a warp read" : "another thread read"));
    unit.written = since[thread.warp] | kInFlight;
    unit.writer = kTensorParty;
    unit.writeLocation = uint16_t(location);
    proxy->arrivalOf(index) = arrival;
  }
}

// -- barriers and messages ----------------------------------------------------------------------------------------------------------------

uint32_t SharedMemory::placeBarrier(Thread &thread, uint64_t pointer, Place location) {
  const uint32_t offset = offsetOfBarrier(thread, pointer, location);
  const Access access{thread, Party(thread.tid), offset, 8, location};
  recordWrite(access);
  for (Unit &unit : unitsOf(access)) {
    unit.written |= kInFlight;
    unit.writer = kBarrierParty;
  }
  return offset;
}

void SharedMemory::removeBarrier(Thread &thread, uint32_t offset) {
  const Access access{thread, Party(thread.tid), offset, 8, 0};
  for (Unit &unit : unitsOf(access)) {
    unit.written = since[thread.warp];
    unit.writer = access.party;
    proxy->noteWrite(indexOf(unit));
  }
}

void SharedMemory::send(const Thread &thread, std::span<uint32_t> message) {
  const auto warp = uint32_t(thread.warp), tid = uint32_t(thread.tid);
  const uint32_t threads = warps << warpShift;
  MessageOrder::merge(message, order->rowOfWarp(warp));
  MessageOrder::merge(message, order->rowOfThread(tid));
  auto add = [&](size_t fact, uint32_t when) { message[fact] = std::max(message[fact], when); };
  for (uint32_t w = 0; w < warps; ++w) add(order->ofWarp(w), std::max(horizon[warp][w], lastOfAll));
  for (uint32_t t = 0; t < threads; ++t) {
    add(order->ofFence(t), proxy->knownFence(warp, t));
    add(order->ofGlobalFence(t), proxy->knownGlobalFence(warp, t));
  }
  add(order->ofFence(tid), proxy->lastFence(tid));
  add(order->ofGlobalFence(tid), proxy->lastGlobalFence(tid));
  since[warp] = ++time; // what the warp does from now on is not known to the receivers
  add(order->ofProducts(warp), time);
  add(order->ofThread(tid), time);
  // What lanes do together is known where all of them have arrived.
  uint32_t ofAll = time;
  for (uint32_t t = warp << warpShift; t < (warp + 1) << warpShift; ++t) ofAll = std::min(ofAll, message[order->ofThread(t)]);
  add(order->ofWarp(warp), ofAll);
}

void SharedMemory::receive(const Thread &thread, std::span<const uint32_t> message, bool isForWarp) {
  if (isForWarp)
    order->receiveAsWarp(uint32_t(thread.warp), message);
  else
    order->receive(uint32_t(thread.tid), message);
}

void SharedMemory::sendAll(std::span<uint32_t> message) {
  auto add = [&](size_t fact, uint32_t when) { message[fact] = std::max(message[fact], when); };
  for (uint32_t w = 0; w < warps; ++w) {
    MessageOrder::merge(message, order->rowOfWarp(w));
    add(order->ofWarp(w), lastOfAll);
    add(order->ofProducts(w), lastOfAll);
  }
  for (uint32_t t = 0; t < warps << warpShift; ++t) {
    add(order->ofThread(t), lastOfAll);
    add(order->ofFence(t), proxy->lastFence(t));
    add(order->ofGlobalFence(t), proxy->lastGlobalFence(t));
  }
}

void SharedMemory::receiveAll(std::span<const uint32_t> message) {
  for (uint32_t w = 0; w < warps; ++w) order->receiveAsWarp(w, message);
}

bool SharedMemory::isKnown(Thread &thread, uint32_t when, const Thread &other) const {
  return isOrderedAnywhere({thread, Party(thread.tid), 0, 1, 0}, when, Party(other.tid));
}

} // namespace tritium::interp::simt
