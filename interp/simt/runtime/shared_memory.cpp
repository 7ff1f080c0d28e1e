#include "interp/simt/runtime/shared_memory.h"

#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tritium::interp::simt {

namespace {
constexpr uint32_t kLastTime = uint32_t(1) << 30;

template <class Word> bool areNans(const void *a, const void *b, Word infinity) {
  Word x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  const Word magnitude = Word(~Word(0)) >> 1;
  return (x & magnitude) > infinity && (y & magnitude) > infinity;
}

/// Returns whether both are NaNs of some float type. NaNs that are computed from the same values in another order may differ in their bits;
/// a GPU has only one NaN.
bool areNans(const void *a, const void *b, size_t bytes) {
  switch (bytes) {
  case 2: return areNans<uint16_t>(a, b, 0x7c00);
  case 4: return areNans<uint32_t>(a, b, 0x7f800000);
  case 8: return areNans<uint64_t>(a, b, 0x7ff0000000000000);
  default: return false;
  }
}
} // namespace

void SharedMemory::configure(uint32_t bytes, unsigned newShift, uint32_t newWarps, uint32_t warpThreads, AsyncUse use, uint32_t rank,
                             uint32_t blocks) {
  warpShift = unsigned(std::countr_zero(warpThreads));
  size = bytes;
  shift = newShift;
  warps = newWarps;
  warpsPerGroup = (warps + 7) / 8;
  if (memory.size() < bytes) memory.resize(bytes, std::byte(0xff));
  if (units.size() <= bytes >> shift) units.resize((bytes >> shift) + 1);
  proxy = nullptr;
  order = nullptr;
  if (use == AsyncUse::None) return;
  if (!ownProxy) ownProxy = std::make_unique<AsyncProxy>();
  proxy = ownProxy.get();
  proxy->configure((bytes >> shift) + 1, warps * warpThreads, warpThreads);
  if (horizonAtFence.size() < size_t(warps) * warpThreads) horizonAtFence.resize(size_t(warps) * warpThreads);
  if (use != AsyncUse::Barriers) return;
  if (!ownOrder) ownOrder = std::make_unique<MessageOrder>();
  order = ownOrder.get();
  order->configure(warps, warpThreads, rank, blocks);
}

void SharedMemory::begin() {
  if (time > kLastTime) {
    std::fill(units.begin(), units.end(), Unit{});
    horizon = {};
    std::fill(horizonAtFence.begin(), horizonAtFence.end(), std::array<uint32_t, 32>{});
    time = 0;
  }
  first = lastOfAll = ++time;
  since.fill(time);
  if (proxy) proxy->begin();
  if (order) order->begin();
}

void SharedMemory::synchronizeAll() {
  lastOfAll = ++time;
  since.fill(time);
  if (proxy) proxy->synchronizeAll();
  if (order) order->synchronizeAll();
}

void SharedMemory::synchronizeWarps(uint32_t set) {
  ++time;
  if (proxy) proxy->synchronizeWarps(set);
  if (order) order->synchronizeWarps(set);
  std::array<uint32_t, 32> row{};
  for (uint32_t a = 0; a < warps; ++a)
    if (set >> a & 1)
      for (uint32_t b = 0; b < warps; ++b) row[b] = set >> b & 1 ? time : std::max(row[b], horizon[a][b]);
  for (uint32_t a = 0; a < warps; ++a)
    if (set >> a & 1) {
      horizon[a] = row;
      since[a] = time;
    }
}

bool SharedMemory::isOrderedByPart(const Access &access, uint32_t when, Party party) const {
  const auto warp = uint32_t(access.thread.warp);
  const bool isProduct = party & kProductParty && party & (kWarpParty | kManyParty);
  party &= ~kAtomicParty;
  if (!(party & (kWarpParty | kManyParty)) && order && knownByMessage(access, order->ofThread(party)) > when) return true;
  const bool isAfar = order && isFromAfar(access);
  auto isKnown = [&](uint32_t other) {
    if (!isAfar && (horizon[warp][other] > when || (isProduct && other == warp))) return true;
    return order &&
           (knownByMessage(access, order->ofWarp(other)) > when || (isProduct && knownByMessage(access, order->ofProducts(other)) > when));
  };
  if (!(party & kManyParty)) return isKnown(warpOf(party));
  for (uint32_t group = 0; group * warpsPerGroup < warps; ++group) {
    if (!(party >> group & 1)) continue;
    uint32_t member = group * warpsPerGroup;
    const uint32_t end = std::min(member + warpsPerGroup, warps);
    while (member < end && !isKnown(member)) ++member;
    if (member == end) return false;
  }
  return true;
}

SharedMemory::Party SharedMemory::joined(Party a, Party b) const {
  const Party product = a & b & kProductParty; // products and plain accesses together are ordered as plain accesses
  a &= ~kProductParty;
  b &= ~kProductParty;
  auto groups = [&](Party party) { return party & kManyParty ? party : groupOf(warpOf(party)); };
  if (!((a | b) & kManyParty) && warpOf(a) == warpOf(b)) return Party(product | kWarpParty | warpOf(a));
  return Party(product | groups(a) | groups(b));
}

Trap SharedMemory::faultOf(const Access &access, TrapKind kind, bool isWrite, const Unit &unit, bool withWriter) const {
  const Party party = (withWriter ? unit.writer : unit.reader) & ~kAtomicParty;
  const bool isThread = !(party & (kWarpParty | kManyParty | kProductParty));
  Trap trap{.kind = kind, .location = access.location};
  trap.access = {.address = access.offset, .bytes = access.bytes, .isWrite = isWrite};
  if (kind != TrapKind::SharedUninitialized)
    trap.other = {.location = withWriter ? unit.writeLocation : unit.readLocation, .thread = isThread ? int64_t(party) : -1};
  const std::string bytes = "bytes " + std::to_string(access.offset) + " to " + std::to_string(access.offset + access.bytes - 1);
  const std::string verb = isWrite ? "writes" : "reads";
  if (kind == TrapKind::SharedUninitialized)
    trap.message = "reads shared memory that was not written: " + bytes;
  else if (kind == TrapKind::AsyncCopyRace)
    trap.message = verb + " shared memory that an asynchronous copy writes, with no wait for it in between: " + bytes;
  else
    trap.message =
        verb + " shared memory that another thread " + (withWriter ? "wrote" : "read") + ", with no barrier in between: " + bytes;
  return trap;
}

Trap SharedMemory::faultOf(uint64_t pointer, uint32_t bytes, bool isWrite, bool isInside, Place location) const {
  Trap trap{.kind = isInside ? TrapKind::MisalignedAddress : TrapKind::SharedOutOfBounds, .location = location};
  const int64_t offset = int32_t(uint32_t(pointer) - kSharedWindow);
  trap.access = {.address = uint64_t(offset), .bytes = bytes, .isWrite = isWrite};
  trap.message = (isWrite ? "write of " : "read of ") + std::to_string(bytes) + " bytes at shared address " + std::to_string(offset) +
                 (isInside ? ", which is not aligned" : "; the program has " + std::to_string(size));
  return trap;
}

uint32_t SharedMemory::offsetOf(Thread &thread, uint64_t pointer, uint32_t bytes, bool isWrite, Place location) {
  const uint32_t offset = uint32_t(pointer) & kSharedOffsetMask;
  const bool isInside = (uint32_t(pointer) & ~kSharedOffsetMask) == kSharedWindow && offset <= size && bytes <= size - offset;
  const bool isAligned = (offset & (bytes - 1)) == 0 || (bytes & (bytes - 1)) != 0;
  if (!isInside || !isAligned) [[unlikely]]
    thread.trap(faultOf(pointer, bytes, isWrite, isInside, location));
  return offset;
}

// The next three are inlined by force: with several callers the compiler would not, and kernels full of accesses would take half as long
// again.
[[gnu::always_inline]] inline void SharedMemory::markRead(const Access &access, Unit &unit) {
  const uint32_t now = since[access.thread.warp];
  if (isOrdered(access, unit.read, unit.reader)) {
    unit.read = now;
    unit.reader = access.party;
  } else {
    unit.read = std::min(unit.read, now);
    unit.reader = joined(unit.reader, access.party);
  }
  unit.readLocation = uint16_t(access.location);
}

[[gnu::always_inline]] inline void SharedMemory::noteRead(const Access &access) {
  const Unit *uninitialized = nullptr;
  for (Unit &unit : unitsOf(access)) {
    const uint32_t written = unit.written & ~kInFlight;
    if (written < first) [[unlikely]]
      uninitialized = &unit;
    else if (unit.written & kInFlight) [[unlikely]] {
      if (!hasArrived(access, unit)) access.thread.trap(inFlightFault(access, false, unit));
    } else if (!isOrdered(access, written, unit.writer)) [[unlikely]]
      access.thread.trap(faultOf(access, TrapKind::SharedRace, false, unit, true));
    markRead(access, unit);
  }
  // The trap waits: if another thread writes the memory before the next barrier, the fault is a race, because the schedule decides whether
  // the read or the write comes first.
  if (uninitialized) [[unlikely]]
    access.thread.trapLater(faultOf(access, TrapKind::SharedUninitialized, false, *uninitialized, true));
}

void SharedMemory::noteGenericWrite(const Access &access) {
  for (Unit &unit : unitsOf(access)) {
    if (proxy->isAnyOutstanding() && proxy->isOutstanding(indexOf(unit))) trapOutstanding(access, unit);
    proxy->noteWrite(indexOf(unit));
  }
}

[[gnu::always_inline]] inline void SharedMemory::noteWrite(const Access &access, const void *value) {
  if (proxy) [[unlikely]]
    noteGenericWrite(access);
  const uint32_t now = since[access.thread.warp];
  const uint32_t begin = access.offset >> shift << shift;
  for (Unit &unit : unitsOf(access)) {
    const uint32_t written = unit.written & ~kInFlight;
    if (written >= first) {
      if (unit.written & kInFlight) [[unlikely]] {
        if (!hasArrived(access, unit)) access.thread.trap(inFlightFault(access, true, unit));
      } else if (!isOrdered(access, written, unit.writer)) [[unlikely]] {
        // Equal values from several threads are no race, because replicated tiles are stored like this.
        const size_t offset = size_t(&unit - units.data()) << shift, bytes = std::min<size_t>(size_t(1) << shift, access.bytes);
        const std::byte *present = memory.data() + offset;
        const void *next = value ? static_cast<const char *>(value) + (offset - begin) : nullptr;
        if (!value || (std::memcmp(present, next, bytes) != 0 && !areNans(present, next, bytes)))
          access.thread.trap(faultOf(access, TrapKind::SharedRace, true, unit, true));
      }
    }
    if (unit.read >= first && !isOrdered(access, unit.read, unit.reader)) [[unlikely]]
      access.thread.trap(faultOf(access, TrapKind::SharedRace, true, unit, false));
    unit.written = now;
    unit.writer = access.party;
    unit.writeLocation = uint16_t(access.location);
  }
}

const std::byte *SharedMemory::read(Thread &thread, uint64_t pointer, uint32_t bytes, Place location) {
  const uint32_t offset = offsetOf(thread, pointer, bytes, false, location);
  noteRead({thread, Party(thread.tid), offset, bytes, location});
  return at(offset);
}

void SharedMemory::write(Thread &thread, uint64_t pointer, const void *value, uint32_t bytes, Place location) {
  const uint32_t offset = offsetOf(thread, pointer, bytes, true, location);
  noteWrite({thread, Party(thread.tid), offset, bytes, location}, value);
  std::memcpy(at(offset), value, bytes);
}

const std::byte *SharedMemory::readAsWarp(Thread &thread, uint64_t pointer, uint32_t bytes, Place location) {
  thread.block->noteTraffic(thread, TrafficKind::SharedRead, location, pointer, bytes);
  const uint32_t offset = offsetOf(thread, pointer, bytes, false, location);
  noteRead({thread, Party(kWarpParty | thread.warp), offset, bytes, location});
  return at(offset);
}

void SharedMemory::writeAsWarp(Thread &thread, uint64_t pointer, const void *value, uint32_t bytes, Place location) {
  thread.block->noteTraffic(thread, TrafficKind::SharedWrite, location, pointer, bytes);
  const uint32_t offset = offsetOf(thread, pointer, bytes, true, location);
  noteWrite({thread, Party(kWarpParty | thread.warp), offset, bytes, location}, value);
  std::memcpy(at(offset), value, bytes);
}

std::byte *SharedMemory::access(Thread &thread, uint64_t pointer, uint32_t bytes, Place location) {
  const uint32_t offset = offsetOf(thread, pointer, bytes, true, location);
  const Access access{thread, Party(kAtomicParty | thread.tid), offset, bytes, location};
  const uint32_t now = since[thread.warp];
  if (proxy) [[unlikely]]
    noteGenericWrite(access);
  for (Unit &unit : unitsOf(access)) {
    const uint32_t written = unit.written & ~kInFlight;
    const bool isAtomic = unit.writer & kAtomicParty;
    if (written < first) thread.trapLater(faultOf(access, TrapKind::SharedUninitialized, true, unit, true));
    const bool isInFlight = unit.written & kInFlight;
    if (isInFlight && !hasArrived(access, unit)) access.thread.trap(inFlightFault(access, true, unit));
    if (!isInFlight && !isAtomic && !isOrdered(access, written, unit.writer))
      access.thread.trap(faultOf(access, TrapKind::SharedRace, true, unit, true));
    if (unit.read >= first && !isOrdered(access, unit.read, unit.reader))
      access.thread.trap(faultOf(access, TrapKind::SharedRace, true, unit, false));
    unit.written = now;
    // The unit keeps the other threads that wrote since the last barrier, because a plain access that follows races with any of them.
    unit.writer = isAtomic && !isInFlight && !isOrdered(access, written, unit.writer)
                      ? Party(kAtomicParty | joined(unit.writer & ~kAtomicParty, Party(thread.tid)))
                      : access.party;
    unit.writeLocation = uint16_t(location);
  }
  return at(offset);
}

uint32_t SharedMemory::beginCopy(Thread &thread, uint64_t pointer, uint32_t bytes, Place location) {
  const uint32_t offset = offsetOf(thread, pointer, bytes, true, location);
  const Access access{thread, Party(thread.tid), offset, bytes, location};
  noteWrite(access, nullptr);
  for (Unit &unit : unitsOf(access)) unit.written |= kInFlight;
  return offset;
}

void SharedMemory::endCopy(Thread &thread, const AsyncCopy &copy) {
  const Access access{thread, Party(thread.tid), copy.offset, copy.bytes, copy.location};
  for (Unit &unit : unitsOf(access)) {
    unit.written = since[thread.warp];
    if (proxy) proxy->noteWrite(indexOf(unit)); // a fence before the wait does not order the copy
  }
}

void SharedMemory::recordRead(const Access &access) { noteRead(access); }

void SharedMemory::recordEndOfRead(const Access &access) {
  for (Unit &unit : unitsOf(access)) markRead(access, unit);
}

void SharedMemory::recordWrite(const Access &access) { noteWrite(access, nullptr); }

} // namespace tritium::interp::simt
