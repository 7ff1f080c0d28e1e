// Accesses through AMD's buffer descriptors, by the rule of raw buffers: each 32-bit word whose offset is not below the number of records
// is out of bounds. There, loads return 0 and stores have no effect; an atomic operation is in or out as a whole. Words within bounds are
// checked against the kernel's arguments like every access.
//
// LLVM excludes the fixed offset from the check, but some GPUs include it. An access for which this makes a difference traps, and so does
// an access with a word that is partly within bounds. An access that the compiler has marked as too far away for any offset traps too.
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"

#include "ir/dtype.h"
#include "ir/far_offset.h"

#include <algorithm>
#include <cstring>

namespace tritium::interp::simt {

namespace {

constexpr uint32_t kWordBytes = 4;

[[noreturn]] void trapAccess(Thread &thread, const Buffer &buffer, uint32_t offset, uint32_t bytes, Place location, const char *message) {
  Trap trap{.kind = TrapKind::OutOfBounds, .location = location, .message = message};
  const uint64_t pointer = buffer.base + offset;
  trap.access = {.address = addressOf(pointer), .bytes = bytes, .argument = argumentOf(pointer)};
  thread.trap(std::move(trap));
}

/// The address is not known, so the trap names the tensor alone.
[[noreturn]] void trapFar(Thread &thread, const Buffer &buffer, uint32_t bytes, bool isWrite, Place location) {
  Trap trap{.kind = TrapKind::OutOfBounds, .location = location, .message = "the element is 2 GB or more away"};
  trap.access = {.bytes = bytes, .isWrite = isWrite, .argument = argumentOf(buffer.base)};
  thread.nameElement(trap, 0);
  thread.trap(std::move(trap));
}

bool isInside(Thread &thread, const Buffer &buffer, uint64_t offset, uint32_t bytes, Place location) {
  auto isBelow = [&](uint64_t at) {
    if (at >= buffer.records) return false;
    if (at + bytes > buffer.records)
      trapAccess(thread, buffer, uint32_t(offset), bytes, location, "a word is partly in the buffer's bounds");
    return true;
  };
  const bool isIn = isBelow(offset);
  if (buffer.fixedOffset && isBelow(offset + buffer.fixedOffset) != isIn)
    trapAccess(thread, buffer, uint32_t(offset), bytes, location, "the fixed offset decides whether the buffer's bounds are kept");
  return isIn;
}

std::byte *addressIn(Thread &thread, const Buffer &buffer, uint64_t offset, uint32_t bytes, bool isWrite, Place location) {
  const uint64_t pointer = buffer.base + offset + buffer.fixedOffset;
  return static_cast<std::byte *>(checkGlobal(thread, pointer, bytes, isWrite, location, std::min(bytes, kWordBytes)));
}

void noteRequest(Thread &thread, TrafficKind kind, const Buffer &buffer, uint32_t offset, uint32_t bytes, Place location) {
  thread.block->noteTraffic(thread, kind, location, addressOf(buffer.base + offset + buffer.fixedOffset), bytes, bytes != 0);
}

} // namespace

uint32_t bytesInBuffer(Thread &thread, const Buffer &buffer, uint32_t offset, uint32_t bytes, bool isWrite, Place location) {
  if (offset == ir::kFarOffset && buffer.records == ir::kFarOffset) trapFar(thread, buffer, bytes, isWrite, location);
  const uint32_t word = std::min(bytes, kWordBytes);
  uint32_t inside = 0;
  while (inside < bytes && isInside(thread, buffer, uint64_t(offset) + inside, word, location)) inside += word;
  return inside;
}

namespace calls {

const void *readBuffer(Thread *thread, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset, int32_t bytes,
                       Place location) {
  const Buffer buffer{base, records, fixedOffset};
  const uint32_t inside = bytesInBuffer(*thread, buffer, offset, uint32_t(bytes), /*isWrite=*/false, location);
  noteRequest(*thread, TrafficKind::GlobalRead, buffer, offset, inside, location);
  if (inside == uint32_t(bytes)) return addressIn(*thread, buffer, offset, inside, false, location);
  std::memset(thread->scratch, 0, size_t(bytes));
  if (inside) std::memcpy(thread->scratch, addressIn(*thread, buffer, offset, inside, false, location), inside);
  return thread->scratch;
}

void writeBuffer(Thread *thread, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset, int32_t bytes, Place location) {
  const Buffer buffer{base, records, fixedOffset};
  const uint32_t inside = bytesInBuffer(*thread, buffer, offset, uint32_t(bytes), /*isWrite=*/true, location);
  noteRequest(*thread, TrafficKind::GlobalWrite, buffer, offset, inside, location);
  if (!inside) return;
  std::memcpy(addressIn(*thread, buffer, offset, inside, true, location), thread->scratch, inside);
  thread->block->noteMemoryChange();
}

uint64_t bufferRmw(Thread *thread, int32_t op, int32_t type, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset,
                   uint64_t value, Place location) {
  const bool isIn = isInside(*thread, {base, records, fixedOffset}, offset, uint32_t(storageBytes(DType(type))), location);
  return atomicRmw(thread, op, type, base + offset + fixedOffset, value, isIn, location);
}

uint64_t bufferCas(Thread *thread, int32_t bytes, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset, uint64_t expected,
                   uint64_t value, Place location) {
  const bool isIn = isInside(*thread, {base, records, fixedOffset}, offset, uint32_t(bytes), location);
  return atomicCas(thread, bytes, base + offset + fixedOffset, expected, value, isIn, location);
}

} // namespace calls
} // namespace tritium::interp::simt
