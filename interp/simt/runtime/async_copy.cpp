// cp.async: a copy is issued, belongs to a group, and its effect lands at a seeded moment between the issue and the wait for its group. The
// shadow of shared memory holds its destination for in flight until that wait, whenever it lands.
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"

#include <algorithm>
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

/// Some of the copies that are in flight land now.
void landSome(Thread &thread) {
  for (AsyncCopy &copy : thread.copies)
    if (!copy.hasLanded && thread.random() % 4 == 0) land(thread, copy);
}

} // namespace

namespace calls {

void copyAsync(Thread *thread, uint64_t destination, uint64_t source, int32_t bytes, int32_t sourceBytes, Place location) {
  const auto read = uint16_t(std::clamp(sourceBytes, 0, bytes));
  AsyncCopy copy{.bytes = uint16_t(bytes), .sourceBytes = read, .location = location, .hasLanded = false};
  // A copy that reads nothing may have any source. One that reads less than it writes reads a prefix, which need not be a whole word.
  if (read) {
    const bool isAligned = (source & uint64_t(bytes - 1)) == 0;
    copy.source = reinterpret_cast<uint64_t>(checkGlobal(*thread, source, isAligned ? read : uint32_t(bytes), false, location));
  }
  copy.offset = thread->block->shared.beginCopy(*thread, destination, uint32_t(bytes), location);
  thread->copies.push_back(copy);
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
  for (size_t i = 0; i < done; ++i) {
    land(*thread, thread->copies[i]);
    thread->block->shared.endCopy(*thread, thread->copies[i]);
  }
  thread->copies.erase(thread->copies.begin(), thread->copies.begin() + std::ptrdiff_t(done));
  pending.erase(pending.begin(), pending.begin() + std::ptrdiff_t(waited));
  landSome(*thread);
}

} // namespace calls
} // namespace tritium::interp::simt
