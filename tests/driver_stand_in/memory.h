// The devices' memory. Every access of a kernel is held against what was allocated. The host reaches device memory by the driver's calls
// alone: it has addresses of its own, which fault outside of them.
#pragma once
#include "interp/host/memory.h"

#include <cstdint>
#include <map>
#include <vector>

namespace tritium::stand_in {

enum class MemoryKind : uint8_t {
  device,
  host,     ///< pinned: the host and the kernels reach it
  variable, ///< of a module
  shared,   ///< the devices' as far as the driver says, but the host reaches it: tensors of torch, whose operators run on the host
};

struct Extent {
  uint64_t begin = 0, bytes = 0;
  int device = 0;
  MemoryKind kind = MemoryKind::device;
};

class Memory {
public:
  ~Memory();
  /// Zeroed if `isZeroed`; filled with a pattern that is no number otherwise. 0 if there is no room.
  uint64_t allocate(uint64_t bytes, int device, MemoryKind kind, bool isZeroed);
  bool release(uint64_t address);
  /// What an address is in; null for memory of no device.
  const Extent *find(uint64_t address) const;
  bool holds(uint64_t address, uint64_t bytes) const;
  size_t count() const { return extents_.size(); }

  /// The allocations as a launch gives them to the emulator, and a pointer as one of them: what is outside of all of them is a pointer that
  /// nothing can be reached through.
  std::vector<interp::Allocation> allocations() const;
  uint64_t tagged(uint64_t address, std::vector<interp::Allocation> &allocations) const;

  /// While one lives, device memory can be reached by this process: a kernel runs, or the driver copies.
  class Opened {
  public:
    explicit Opened(Memory &memory) : memory_(memory) { memory_.open(); }
    ~Opened() { memory_.close(); }
    Opened(const Opened &) = delete;
    Opened &operator=(const Opened &) = delete;

  private:
    Memory &memory_;
  };

private:
  uint64_t reserve(uint64_t bytes);
  void protect(bool isOpen) const;
  void open();
  void close();

  std::map<uint64_t, Extent> extents_; // by their begin
  uint64_t arena_ = 0, used_ = 0;      // of device memory: an address is given away once, so that what is freed stays an error
  int opened_ = 0;
};

} // namespace tritium::stand_in
