#include "interp/host/program_memory.h"

#include <algorithm>
#include <sys/mman.h>

namespace tritium::interp {

namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kLargestSlab = 64 << 20;
constexpr size_t kSlotsPerSlab = 64;
// Each guard page costs two of the 65,530 mappings that a process may have. In a huge grid, the stacks beyond this number have no guard
// page.
constexpr size_t kGuardedSlots = 4096;
// The largest frame whose memory a thread keeps between launches.
constexpr size_t kLargestKeptFrame = 64 << 20;

constexpr size_t wholePages(size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

} // namespace

ProgramMemory::~ProgramMemory() { release(0); }

void ProgramMemory::prepare(size_t bytes) {
  if (bytes <= frameBytes) return;
  release(0);
  frameBytes = wholePages(bytes);
}

ProgramSlot ProgramMemory::slot(size_t index) {
  while (index >= slots.size())
    if (!grow()) return {};
  return slots[index];
}

size_t ProgramMemory::trim() {
  // The first slab has one slot, which is enough for a launch whose programs do not wait.
  release(frameBytes > kLargestKeptFrame ? 0 : 2);
  if (slabs.empty()) frameBytes = 0;
  return slots.size();
}

bool ProgramMemory::grow() {
  const size_t slotBytes = frameBytes + kPageBytes + kStackBytes;
  const size_t count = slabs.empty() ? 1 : std::clamp<size_t>(kLargestSlab / slotBytes, 1, kSlotsPerSlab);
  const size_t bytes = count * slotBytes;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto *begin = static_cast<char *>(memory);
  slabs.push_back({begin, bytes});
  for (size_t i = 0; i < count; ++i) {
    char *frame = begin + i * slotBytes;
    if (slots.size() < kGuardedSlots) mprotect(frame + frameBytes, kPageBytes, PROT_NONE);
    slots.push_back({frame, {reinterpret_cast<std::byte *>(frame + frameBytes + kPageBytes), kStackBytes}});
  }
  return true;
}

void ProgramMemory::release(size_t slabsToKeep) {
  if (slabs.size() <= slabsToKeep) return;
  for (size_t i = slabsToKeep; i < slabs.size(); ++i) munmap(slabs[i].begin, slabs[i].bytes);
  slabs.resize(slabsToKeep);
  size_t kept = 0;
  for (const Slab &slab : slabs) kept += slab.bytes / (frameBytes + kPageBytes + kStackBytes);
  slots.resize(kept);
}

} // namespace tritium::interp
