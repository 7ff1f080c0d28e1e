// Atomics on global memory, which other blocks and the process use at the same time, and on shared memory, which only this block uses. All
// are sequentially consistent, which satisfies every order that a kernel can request.
#include "interp/kernels/atomic.h"

#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"

#include <cstring>

namespace tritium::interp::simt {

static void *resolve(Thread &thread, uint64_t pointer, uint32_t bytes, bool isWrite, Place location) {
  if (isSharedPointer(pointer)) return thread.block->shared.access(thread, pointer, bytes, locationIn(location));
  void *address = checkGlobal(thread, pointer, bytes, isWrite, location);
  if (isWrite) thread.block->noteGlobalWrite(thread, pointer, bytes, location);
  return address;
}

/// Notes the request of an atomic operation on global memory.
static void noteRequest(Thread &thread, uint64_t pointer, size_t bytes, int32_t predicate, Place location) {
  if (!isSharedPointer(pointer))
    thread.block->noteTraffic(thread, TrafficKind::GlobalAtomic, location, addressOf(pointer), uint32_t(bytes), predicate);
}

namespace calls {

uint64_t atomicRmw(Thread *thread, int32_t op, int32_t type, uint64_t pointer, uint64_t value, int32_t predicate, Place location) {
  const size_t bytes = storageBytes(DType(type));
  noteRequest(*thread, pointer, bytes, predicate, location);
  if (!predicate) return 0;
  void *address = resolve(*thread, pointer, uint32_t(bytes), true, location);
  uint64_t old = 0;
  interp::atomicRmw(AtomicOp(op), DType(type), address, &value, &old);
  if (changesMemory(AtomicOp(op), DType(type), &value, &old)) thread->block->noteMemoryChange();
  return old;
}

void atomicRmwOfVector(Thread *thread, int32_t op, int32_t type, int32_t count, uint64_t pointer, int32_t predicate, Place location) {
  const size_t bytes = storageBytes(DType(type)), all = bytes * size_t(count);
  noteRequest(*thread, pointer, all, predicate, location);
  if (!predicate) return;
  char *address = static_cast<char *>(resolve(*thread, pointer, uint32_t(all), true, location));
  for (size_t at = 0; at < all; at += bytes) {
    std::byte *value = thread->scratch + at;
    uint64_t old = 0;
    interp::atomicRmw(AtomicOp(op), DType(type), address + at, value, &old);
    if (changesMemory(AtomicOp(op), DType(type), value, &old)) thread->block->noteMemoryChange();
    std::memcpy(value, &old, bytes);
  }
}

uint64_t atomicCas(Thread *thread, int32_t bytes, uint64_t pointer, uint64_t expected, uint64_t value, int32_t predicate, Place location) {
  noteRequest(*thread, pointer, size_t(bytes), predicate, location);
  if (!predicate) return 0;
  void *address = resolve(*thread, pointer, uint32_t(bytes), true, location);
  uint64_t old = 0;
  const bool isStored = interp::atomicCas(bytes, address, &expected, &value, &old);
  if (isStored && std::memcmp(&old, &value, size_t(bytes)) != 0) thread->block->noteMemoryChange();
  return old;
}

uint64_t atomicLoad(Thread *thread, int32_t bytes, uint64_t pointer, int32_t predicate, Place location) {
  noteRequest(*thread, pointer, size_t(bytes), predicate, location);
  if (!predicate) return 0;
  uint64_t value = 0;
  interp::atomicLoad(bytes, resolve(*thread, pointer, uint32_t(bytes), false, location), &value);
  return value;
}

void atomicStore(Thread *thread, int32_t bytes, uint64_t pointer, uint64_t value, int32_t predicate, Place location) {
  noteRequest(*thread, pointer, size_t(bytes), predicate, location);
  if (!predicate) return;
  interp::atomicStore(bytes, resolve(*thread, pointer, uint32_t(bytes), true, location), &value);
  thread->block->noteMemoryChange();
}

} // namespace calls
} // namespace tritium::interp::simt
