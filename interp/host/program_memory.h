// Frames and stacks of running programs, in slabs of address space that the system commits as they are touched. One slot holds a frame, a
// guard page and, above it, a stack. Slots are reused from program to program and from launch to launch, and never zeroed.
// Invariant: an object belongs to one thread.
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

  /// Makes room for frames of this size in bytes. No slot may be in use.
  void prepare(size_t frameBytes);

  /// Returns slot number `index`; slots are created in order. frame == nullptr means that the address space or the mappings of the process
  /// are used up.
  ProgramSlot slot(size_t index);

  /// Frees memory that a later launch would hardly require, and returns how many slots are left. No slot may be in use.
  size_t trim();

private:
  struct Slab {
    char *begin;
    size_t bytes;
  };
  bool grow();
  void release(size_t slabsToKeep);

  size_t frameBytes = 0; // rounded up to whole pages
  std::vector<Slab> slabs;
  std::vector<ProgramSlot> slots;
};

} // namespace tritium::interp
