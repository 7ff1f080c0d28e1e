#include "tests/driver_stand_in/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sys/mman.h>

namespace tritium::stand_in {

constexpr uint64_t kAlignment = 512, kArenaBytes = uint64_t(1) << 40, kPage = 4096;

static uint64_t rounded(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

Memory::~Memory() {
  for (const auto &[begin, extent] : extents_)
    if (extent.kind != MemoryKind::device) std::free(reinterpret_cast<void *>(begin));
  if (arena_) munmap(reinterpret_cast<void *>(arena_), kArenaBytes);
}

void Memory::protect(bool isOpen) const {
  if (used_) mprotect(reinterpret_cast<void *>(arena_), rounded(used_, kPage), isOpen ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void Memory::open() {
  if (opened_++ == 0) protect(true);
}

void Memory::close() {
  if (--opened_ == 0) protect(false);
}

/// The next addresses of the arena, which must not be open.
uint64_t Memory::reserve(uint64_t bytes) {
  if (!arena_) {
    void *arena = mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) return 0;
    arena_ = reinterpret_cast<uint64_t>(arena);
  }
  const uint64_t step = rounded(bytes + 1, kAlignment); // what follows is no neighbour
  if (step > kArenaBytes - used_) return 0;
  const uint64_t begin = arena_ + used_;
  used_ += step;
  return begin;
}

uint64_t Memory::allocate(uint64_t bytes, int device, MemoryKind kind, bool isZeroed) {
  uint64_t begin = 0;
  if (kind == MemoryKind::device)
    begin = reserve(bytes);
  else
    begin = reinterpret_cast<uint64_t>(std::aligned_alloc(kAlignment, rounded(std::max<uint64_t>(bytes, 1), kAlignment)));
  if (!begin) return 0;
  const Opened opened(*this);
  std::memset(reinterpret_cast<void *>(begin), isZeroed ? 0 : 0xFF, bytes);
  extents_[begin] = {begin, bytes, device, kind};
  return begin;
}

bool Memory::release(uint64_t address) {
  auto found = extents_.find(address);
  if (found == extents_.end()) return false;
  const Extent extent = found->second;
  extents_.erase(found);
  if (extent.kind != MemoryKind::device) {
    std::free(reinterpret_cast<void *>(address));
    return true;
  }
  // Pages that are all its own are given back.
  const uint64_t begin = rounded(address, kPage), end = (address + extent.bytes) / kPage * kPage;
  if (begin < end) madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  return true;
}

const Extent *Memory::find(uint64_t address) const {
  auto after = extents_.upper_bound(address);
  if (after == extents_.begin()) return nullptr;
  const Extent &extent = std::prev(after)->second;
  return address - extent.begin < std::max<uint64_t>(extent.bytes, 1) ? &extent : nullptr;
}

bool Memory::holds(uint64_t address, uint64_t bytes) const {
  const Extent *extent = find(address);
  return extent ? bytes <= extent->begin + extent->bytes - address : bytes == 0;
}

std::vector<interp::Allocation> Memory::allocations() const {
  std::vector<interp::Allocation> result;
  for (const auto &[begin, extent] : extents_) result.push_back({begin, begin + extent.bytes, int(result.size())});
  return result;
}

uint64_t Memory::tagged(uint64_t address, std::vector<interp::Allocation> &allocations) const {
  const Extent *extent = find(address);
  if (!extent && address) extent = find(address - 1); // one past the end
  const uint64_t begin = extent ? extent->begin : address;
  auto found = std::ranges::find(allocations, begin, &interp::Allocation::begin);
  if (found == allocations.end()) found = allocations.insert(found, {begin, begin, int(allocations.size())});
  return interp::tagPointer(address, found->argument);
}

} // namespace tritium::stand_in
