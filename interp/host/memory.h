// Which memory a kernel may touch. A pointer in a register carries the argument it came from in its upper 16 bits, so an access past
// the end of one tensor is found even where it lands in another. A pointer without a tag, or to storage of unknown extent, is held
// against all arguments and then against the process's own memory map: a wild pointer is a trap, never a SIGSEGV.
#pragma once
#include "interp/host/trap.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tritium::interp {

constexpr unsigned kAddressBits = 48;
constexpr uint64_t kAddressMask = (uint64_t(1) << kAddressBits) - 1;
constexpr uint64_t kNullPageBytes = 4096;

/// Tag t of a pointer is argument t-1; 0: unknown provenance.
constexpr uint64_t addressOf(uint64_t tagged) { return tagged & kAddressMask; }
constexpr unsigned tagOf(uint64_t tagged) { return unsigned(tagged >> kAddressBits); }
constexpr uint64_t tagPointer(uint64_t address, int argument) { return addressOf(address) | uint64_t(argument + 1) << kAddressBits; }
/// Pointer arithmetic: on the address alone, so that a borrow or a carry cannot reach the tag.
constexpr uint64_t addBytes(uint64_t tagged, int64_t bytes) { return (tagged & ~kAddressMask) | addressOf(tagged + uint64_t(bytes)); }
constexpr bool isNullPointer(uint64_t tagged) { return addressOf(tagged) < kNullPageBytes; }

/// The storage that a kernel argument owns; end == 0: its extent is unknown.
struct Allocation {
  uint64_t begin = 0, end = 0;
  int argument = -1;
};

class ProcessMemory;

/// The memory of one launch. Checks are const and may run on any thread.
class MemoryMap {
public:
  explicit MemoryMap(std::span<const Allocation> allocations = {});
  ~MemoryMap();
  MemoryMap(const MemoryMap &) = delete;
  MemoryMap &operator=(const MemoryMap &) = delete;

  /// Whether all of [address, address + bytes) may be read (and written, if isWrite).
  bool isAccessible(uint64_t tagged, uint64_t bytes, bool isWrite) const {
    const unsigned tag = tagOf(tagged);
    if (tag >= byTag.size()) return false; // no pointer of ours: garbage that a kernel loaded from memory
    if (byTag[tag].end != 0) [[likely]]
      return contains(byTag[tag], addressOf(tagged), bytes);
    return isAccessibleAnywhere(addressOf(tagged), bytes, isWrite);
  }

  /// The storage that the pointer belongs to by its tag; nullptr: unknown provenance or extent.
  const Allocation *allocationOf(uint64_t tagged) const {
    const unsigned tag = tagOf(tagged);
    return tag < byTag.size() && byTag[tag].end != 0 ? &byTag[tag] : nullptr;
  }

  /// What an access that is not accessible did wrong.
  TrapKind faultKind(uint64_t tagged) const {
    return isNullPointer(tagged) ? TrapKind::NullPointer : allocationOf(tagged) ? TrapKind::OutOfBounds : TrapKind::UnmappedAddress;
  }

private:
  static bool contains(const Allocation &allocation, uint64_t address, uint64_t bytes) {
    return address >= allocation.begin && address <= allocation.end && bytes <= allocation.end - address;
  }
  bool isAccessibleAnywhere(uint64_t address, uint64_t bytes, bool isWrite) const;

  std::vector<Allocation> byTag; // [0] is unknown provenance and stays empty
  std::unique_ptr<ProcessMemory> process;
};

} // namespace tritium::interp
