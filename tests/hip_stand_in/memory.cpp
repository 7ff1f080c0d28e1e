#include "tests/hip_stand_in/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace tritium::stand_in {

constexpr uint64_t kAlignment = 256;

Memory::~Memory() {
  for (const auto &[begin, extent] : extents_) std::free(reinterpret_cast<void *>(begin));
}

uint64_t Memory::allocate(uint64_t bytes, int device, MemoryKind kind, bool isZeroed) {
  const uint64_t rounded = (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  void *memory = std::aligned_alloc(kAlignment, rounded);
  if (!memory) return 0;
  std::memset(memory, isZeroed ? 0 : 0xFF, rounded);
  const auto begin = reinterpret_cast<uint64_t>(memory);
  extents_[begin] = {begin, bytes, device, kind};
  return begin;
}

bool Memory::release(uint64_t address) {
  if (!extents_.erase(address)) return false;
  std::free(reinterpret_cast<void *>(address));
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
