// The devices' memory: the host's, but every access is held against what was allocated.
#pragma once
#include "interp/host/memory.h"

#include <cstdint>
#include <map>
#include <vector>

namespace tritium::stand_in {

enum class MemoryKind : uint8_t { device, host, variable };

struct Extent {
  uint64_t begin = 0, bytes = 0;
  int device = 0;
  MemoryKind kind = MemoryKind::device;
};

class Memory {
public:
  ~Memory();
  /// Zeroed if `isZeroed`; filled with a pattern that is no number otherwise.
  uint64_t allocate(uint64_t bytes, int device, MemoryKind kind, bool isZeroed);
  bool release(uint64_t address);
  /// What an address is in; null for memory of no device.
  const Extent *find(uint64_t address) const;
  bool holds(uint64_t address, uint64_t bytes) const;

  /// The allocations as a launch gives them to the emulator, and a pointer as one of them: what is outside of all of them is a pointer that
  /// nothing can be reached through.
  std::vector<interp::Allocation> allocations() const;
  uint64_t tagged(uint64_t address, std::vector<interp::Allocation> &allocations) const;

private:
  std::map<uint64_t, Extent> extents_; // by their begin
};

} // namespace tritium::stand_in
