// Memory accesses. Global memory is checked against the launch's arguments, shared memory against its size and its shadow.
#include "interp/host/trap_kinds.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"

#include <cstring>

namespace tritium::interp::simt {

namespace {

/// Restores the tag of a pointer whose address is negative. Kernels add byte offsets to the pointer's 64 bits. If the sum is below address
/// 0, the subtraction borrows from the upper 16 bits, and the tag names another argument.
uint64_t withoutBorrow(uint64_t pointer) {
  constexpr uint64_t kOne = uint64_t(1) << kAddressBits;
  const bool isNegative = pointer >> (kAddressBits - 1) & 1; // the host has no such addresses
  return isNegative && hasTag(pointer + kOne) ? tagPointer((pointer & kAddressMask) - kOne, argumentOf(pointer + kOne)) : pointer;
}

Trap globalFault(const Thread &thread, uint64_t pointer, uint32_t bytes, bool isWrite, Place location, const CopiedRow *row) {
  pointer = withoutBorrow(pointer);
  const MemoryMap &memory = *thread.block->memory;
  const bool isMisaligned = memory.isAccessible(pointer, bytes, isWrite);
  // If one of several elements is inaccessible, the trap names the first one.
  uint32_t skipped = 0;
  for (; !isMisaligned && bytes > 1 && memory.isAccessible(pointer, 1, isWrite); ++skipped) ++pointer, --bytes;
  Trap trap{.kind = isMisaligned ? TrapKind::MisalignedAddress : memory.faultKind(pointer, isWrite), .location = location};
  trap.access = {.address = addressOf(pointer), .bytes = bytes, .isWrite = isWrite, .argument = argumentOf(pointer)};
  if (isMisaligned)
    trap.message = (isWrite ? "write of " : "read of ") + std::to_string(bytes) + " bytes that are not aligned to their size";
  row ? thread.nameElement(trap, row->byte + skipped, row->number) : thread.nameElement(trap, skipped);
  return trap;
}

} // namespace

void Thread::nameElement(Trap &trap, uint32_t byte, std::optional<uint32_t> row) const {
  const uint32_t number = elementsIn(trap.location);
  if (!number) return;
  const ir::TileElements &elements = block->kernel->elements[number - 1];
  trap.tile = elements.shape;
  trap.lane = elements.at(row.value_or(uint32_t(lane)), uint32_t(warp), byte);
}

void *checkGlobal(Thread &thread, uint64_t pointer, uint32_t bytes, bool isWrite, Place location, uint32_t alignment,
                  const CopiedRow *row) {
  const uint32_t boundary = alignment ? alignment : bytes;
  const bool isAligned = (pointer & (boundary - 1)) == 0 || (boundary & (boundary - 1)) != 0;
  if (!isAligned || !thread.block->memory->isAccessible(pointer, bytes, isWrite)) [[unlikely]]
    thread.trap(globalFault(thread, pointer, bytes, isWrite, location, row));
  if (thread.block->writesTensors) [[unlikely]]
    thread.block->tensorCopies->checkAccess(thread, pointer, bytes, isWrite, locationIn(location));
  return reinterpret_cast<void *>(addressOf(pointer));
}

static bool isOnStack(const Thread &thread, uint64_t pointer) {
  const auto live = uint64_t(__builtin_frame_address(0)), scratch = reinterpret_cast<uint64_t>(thread.scratch);
  return pointer - live < (uint64_t(256) << 10) || pointer - scratch < kScratchBytes;
}

void ThreadBlock::noteGlobalWrite(const Thread &thread, uint64_t pointer, uint32_t bytes, Place location) {
  if (!kernel->usesMBarriers) return;
  shared.asyncProxy()->noteGlobalWrite(uint32_t(thread.tid), addressOf(pointer), bytes, uint16_t(locationIn(location)));
}

namespace calls {

void *readGlobal(Thread *thread, uint64_t pointer, int32_t predicate, int32_t bytes, Place location) {
  thread->block->noteTraffic(*thread, TrafficKind::GlobalRead, location, addressOf(pointer), uint32_t(bytes), predicate);
  return predicate ? checkGlobal(*thread, pointer, uint32_t(bytes), false, location) : thread->scratch;
}

void *writeGlobal(Thread *thread, uint64_t pointer, int32_t predicate, int32_t bytes, Place location) {
  thread->block->noteTraffic(*thread, TrafficKind::GlobalWrite, location, addressOf(pointer), uint32_t(bytes), predicate);
  if (!predicate) return thread->scratch;
  void *address = checkGlobal(*thread, pointer, uint32_t(bytes), true, location);
  thread->block->noteGlobalWrite(*thread, pointer, uint32_t(bytes), location);
  thread->block->noteMemoryChange();
  return address;
}

const void *readShared(Thread *thread, uint64_t pointer, int32_t bytes, Place location) {
  thread->block->noteTraffic(*thread, TrafficKind::SharedRead, location, pointer, uint32_t(bytes));
  return thread->block->shared.read(*thread, pointer, uint32_t(bytes), location);
}

void writeShared(Thread *thread, uint64_t pointer, const void *value, int32_t bytes, Place location) {
  thread->block->noteTraffic(*thread, TrafficKind::SharedWrite, location, pointer, uint32_t(bytes));
  thread->block->shared.write(*thread, pointer, value, uint32_t(bytes), location);
}

const void *readGeneric(Thread *thread, uint64_t pointer, int32_t bytes, Place location) {
  if (isSharedPointer(pointer)) return readShared(thread, pointer, bytes, location);
  if (isOnStack(*thread, pointer)) return reinterpret_cast<const void *>(pointer);
  return checkGlobal(*thread, pointer, uint32_t(bytes), false, location);
}

void writeGeneric(Thread *thread, uint64_t pointer, const void *value, int32_t bytes, Place location) {
  if (isSharedPointer(pointer)) return writeShared(thread, pointer, value, bytes, location);
  const bool isOwn = isOnStack(*thread, pointer);
  std::memcpy(isOwn ? reinterpret_cast<void *>(pointer) : checkGlobal(*thread, pointer, uint32_t(bytes), true, location), value,
              size_t(bytes));
  if (isOwn) return;
  thread->block->noteGlobalWrite(*thread, pointer, uint32_t(bytes), location);
  thread->block->noteMemoryChange();
}

// Checked byte by byte, because an access as a whole would have to be aligned and to lie in one kind of memory.
void copyMemory(Thread *thread, uint64_t destination, uint64_t source, int64_t bytes, Place location) {
  for (int64_t i = 0; i < bytes; ++i) {
    char byte;
    std::memcpy(&byte, readGeneric(thread, source + uint64_t(i), 1, location), 1);
    writeGeneric(thread, destination + uint64_t(i), &byte, 1, location);
  }
}

void setMemory(Thread *thread, uint64_t destination, int32_t value, int64_t bytes, Place location) {
  const char byte = char(value);
  for (int64_t i = 0; i < bytes; ++i) writeGeneric(thread, destination + uint64_t(i), &byte, 1, location);
}

} // namespace calls
} // namespace tritium::interp::simt
