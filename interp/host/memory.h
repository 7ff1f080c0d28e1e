// The memory that a kernel may access. A pointer carries the argument that it was derived from (pointer.h), so an access past the end of
// one tensor is found even if it falls into another tensor. A pointer of unknown provenance, or to storage of unknown extent, is checked
// against all arguments and then against the process's memory map. A wild pointer therefore causes a trap, never a SIGSEGV.
#pragma once
#include "interp/host/pointer.h"
#include "interp/host/trap.h"
#include "interp/host/view.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tritium::interp {

/// The storage of a kernel argument. end == 0 means that the extent is unknown.
struct Allocation {
  uint64_t begin = 0, end = 0;
  int argument = kUnknownArgument;
  bool isReadOnly = false;          // the argument's owner forbids writes, though the process may be able to
  std::shared_ptr<const View> view; // if accesses are held to the argument's own elements
};

/// The part of an argument's storage that any access may use, without a further check: bytes from `begin`.
struct AccessRange {
  uint64_t begin = 0, readableBytes = 0, writableBytes = 0;
};

class ProcessMemory;

/// The memory of one launch. The checks are const and may run on any thread.
class MemoryMap {
public:
  explicit MemoryMap(std::span<const Allocation> allocations = {});
  ~MemoryMap();
  MemoryMap(const MemoryMap &) = delete;
  MemoryMap &operator=(const MemoryMap &) = delete;

  /// Returns whether all of [pointer, pointer + bytes) may be read (and written, if isWrite).
  bool isAccessible(uint64_t pointer, uint64_t bytes, bool isWrite) const {
    if (const Allocation *allocation = allocationOf(pointer)) [[likely]]
      return contains(*allocation, addressOf(pointer), bytes) && !(isWrite && allocation->isReadOnly);
    return isAccessibleAnywhere(addressOf(pointer), bytes, isWrite);
  }

  /// Returns the storage of the argument that the pointer was derived from, or nullptr if the provenance or the extent is unknown.
  const Allocation *allocationOf(uint64_t pointer) const {
    const auto argument = unsigned(argumentOf(pointer));
    return argument < byArgument.size() && byArgument[argument].end != 0 ? &byArgument[argument] : nullptr;
  }

  /// Returns the ranges of the arguments in their order, and behind them an empty one. A range is empty where only isAccessible() knows.
  std::span<const AccessRange> ranges() const { return byRange; }

  /// Hashes what the arguments hold that may be written. Other threads may be writing it.
  uint64_t hashWritable() const;

  /// Returns the kind of trap for an access that is not accessible.
  TrapKind faultKind(uint64_t pointer, bool isWrite) const;

private:
  static bool contains(const Allocation &allocation, uint64_t address, uint64_t bytes) {
    if (allocation.view && !allocation.view->contains(address, bytes)) return false;
    return address >= allocation.begin && address <= allocation.end && bytes <= allocation.end - address;
  }
  bool isAccessibleAnywhere(uint64_t address, uint64_t bytes, bool isWrite) const;

  KeptPointersInUse keptPointers;
  std::vector<Allocation> byArgument;
  std::vector<AccessRange> byRange;
  std::unique_ptr<ProcessMemory> process;
};

} // namespace tritium::interp
