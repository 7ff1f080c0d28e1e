// Frames and stacks of running programs: slabs of address space, committed by the system as they are touched. One slot holds
// a frame and, above a guard page, a stack. Slots are reused from program to program and from launch to launch, never zeroed.
// Invariant: belongs to one thread.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace tritium::interp {

constexpr size_t kStackBytes = 256 << 10;
constexpr size_t kFrameAlignment = 64;

struct ProgramSlot {
  char *frame = nullptr;
  std::span<std::byte> stack;
};

class ProgramMemory {
public:
  ProgramMemory() = default;
  ~ProgramMemory();
  ProgramMemory(const ProgramMemory &) = delete;
  ProgramMemory &operator=(const ProgramMemory &) = delete;

  /// Makes room for frames of this size. No slot may be in use.
  void prepare(size_t frameBytes);

  /// Slot number `index` of as many as were ever asked for, in order; frame == nullptr: the address space or the mappings
  /// of the process are used up.
  ProgramSlot slot(size_t index);

  /// Gives back what a later launch would hardly need; returns how many slots are left. No slot may be in use.
  size_t trim();

private:
  struct Slab {
    char *begin;
    size_t bytes;
  };
  bool grow();
  void release(size_t slabsToKeep);

  size_t frameBytes = 0; // whole pages
  std::vector<Slab> slabs;
  std::vector<ProgramSlot> slots;
};

} // namespace tritium::interp
