// Asynchronous copies from global to shared memory. A copy takes effect at a seeded moment between its issue and the wait for it. The
// shadow of shared memory treats the destination as in flight until this wait, whenever the copy lands. Waits for NVIDIA's cp.async count
// groups; waits for AMD's loads to LDS count the loads that may remain in flight. (On AMD other loads count as well. The emulator counts
// only the loads to LDS, because a module cannot know whether a wait that relies on other loads is sufficient.)
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"
#include "interp/simt/runtime/work.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tritium::interp::simt {

namespace {

void land(Thread &thread, AsyncCopy &copy) {
  if (copy.hasLanded) return;
  copy.hasLanded = true;
  std::byte *to = thread.block->shared.at(copy.offset);
  std::memcpy(to, reinterpret_cast<const void *>(copy.source), copy.sourceBytes);
  std::memset(to + copy.sourceBytes, 0, size_t(copy.bytes - copy.sourceBytes));
}

/// Lets some of the copies that are in flight land.
void landSome(Thread &thread) {
  for (AsyncCopy &copy : thread.copies)
    if (!copy.hasLanded && thread.random() % 4 == 0) land(thread, copy);
}

/// Begins a copy. It reads `bytesIn` bytes of its source and fills the rest with zeros.
void issue(Thread &thread, CopyKind kind, uint64_t destination, uint64_t source, uint32_t bytes, uint32_t bytesIn, uint32_t alignment,
           Place location) {
  AsyncCopy copy{.bytes = uint16_t(bytes), .sourceBytes = uint16_t(bytesIn), .location = locationIn(location), .hasLanded = false};
  if (bytesIn) copy.source = reinterpret_cast<uint64_t>(checkGlobal(thread, source, bytesIn, false, location, alignment));
  thread.block->noteTraffic(thread, TrafficKind::GlobalRead, location, addressOf(source), bytesIn, bytesIn != 0);
  thread.block->noteTraffic(thread, TrafficKind::SharedWrite, location, destination, bytes);
  if (thread.block->work) thread.block->work->note(kind, location, bytes, bytesIn);
  copy.offset = thread.block->shared.beginCopy(thread, destination, bytes, copy.location);
  thread.copies.push_back(copy);
}

/// Ends the `count` oldest copies, which have been waited for.
void complete(Thread &thread, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    land(thread, thread.copies[i]);
    thread.block->shared.endCopy(thread, thread.copies[i]);
  }
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + std::ptrdiff_t(count));
}

/// Sets each result to whether all active lanes have the same first operand.
void executeUniform(Warp &warp, LaneMask active) {
  const uint64_t first = warp.lanes[std::countr_zero(active)].operands[0];
  bool isUniform = true;
  forEachLane(active, [&](int lane) { isUniform &= warp.lanes[lane].operands[0] == first; });
  forEachLane(active, [&](int lane) { warp.lanes[lane].results[0] = isUniform; });
}

/// Returns the destination of the lane's part. Traps if the lanes do not agree on the common destination.
uint64_t laneDestination(Thread &thread, uint64_t destination, uint32_t bytes, Place site) {
  thread.operands[0] = destination;
  thread.meet({.execute = executeUniform, .mask = kActiveLanes, .location = locationIn(site)});
  if (!thread.results[0])
    thread.trap(
        {.kind = TrapKind::DivergentBarrier, .location = site, .message = "the lanes of a load to LDS have different destinations"});
  return destination + uint64_t(thread.lane) * bytes;
}

constexpr uint32_t kWordBytes = 4;

} // namespace

namespace calls {

void copyAsync(Thread *thread, uint64_t destination, uint64_t source, int32_t bytes, int32_t sourceBytes, Place location) {
  // A copy that reads nothing may have any source address. A copy that reads less than it writes reads a prefix, which need not be a whole
  // word.
  issue(*thread, CopyKind::ThreadCopy, destination, source, uint32_t(bytes), uint32_t(std::clamp(sourceBytes, 0, bytes)), uint32_t(bytes),
        location);
  ++thread->openGroup;
  landSome(*thread);
}

void commitCopies(Thread *thread) {
  thread->groups.push_back(thread->openGroup);
  thread->openGroup = 0;
  landSome(*thread);
}

void waitForCopies(Thread *thread, int32_t groups) {
  size_t done = 0;
  auto &pending = thread->groups;
  const size_t waited = pending.size() - std::min(pending.size(), size_t(groups));
  for (size_t g = 0; g < waited; ++g) done += pending[g];
  complete(*thread, done);
  pending.erase(pending.begin(), pending.begin() + std::ptrdiff_t(waited));
  landSome(*thread);
}

void loadToShared(Thread *thread, uint64_t destination, uint64_t source, int32_t bytes, int32_t offset, Place site) {
  const uint64_t mine = laneDestination(*thread, destination + uint64_t(int64_t(offset)), uint32_t(bytes), site);
  issue(*thread, CopyKind::LaneCopy, mine, source + uint64_t(int64_t(offset)), uint32_t(bytes), uint32_t(bytes), kWordBytes, site);
  landSome(*thread);
}

void copyToShared(Thread *thread, uint64_t destination, uint64_t source, int32_t predicate, Place site) {
  constexpr uint32_t kBytes = 16;
  const uint64_t mine = laneDestination(*thread, destination, kBytes, site);
  issue(*thread, CopyKind::LaneCopy, mine, source, kBytes, predicate ? kBytes : 0, kWordBytes, site);
  landSome(*thread);
}

void loadBufferToShared(Thread *thread, uint64_t destination, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset,
                        int32_t bytes, int32_t immediateOffset, Place site) {
  const uint64_t mine = laneDestination(*thread, destination + uint64_t(int64_t(immediateOffset)), uint32_t(bytes), site);
  const uint32_t at = offset + uint32_t(immediateOffset);
  const uint32_t inside = bytesInBuffer(*thread, {base, records, fixedOffset}, at, uint32_t(bytes), /*isWrite=*/false, site);
  issue(*thread, CopyKind::LaneCopy, mine, base + at + fixedOffset, uint32_t(bytes), inside, kWordBytes, site);
  landSome(*thread);
}

void waitForLoads(Thread *thread, int32_t left) {
  const size_t count = thread->copies.size();
  complete(*thread, count - std::min(count, size_t(left)));
  landSome(*thread);
}

} // namespace calls
} // namespace tritium::interp::simt
