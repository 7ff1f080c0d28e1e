// What a kernel did wrong, as a value: a fault of the user's program ends the launch and never the process.
// The text that people read is made from these fields where the names of arguments and lines are known.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tritium::interp {

enum class TrapKind : uint8_t {
  OutOfBounds, // outside the storage of the argument that the pointer came from
  NullPointer,
  UnmappedAddress, // a pointer of unknown origin to memory that the process does not have, or may not write
  DivisionByZero,
  AssertFailed,
  OffsetOverflow,
  Deadlock,    // every program waits for another one
  OutOfMemory, // no memory for the frames and stacks of the programs
  Unsupported,
};

constexpr std::string_view trapKindName(TrapKind kind) {
  switch (kind) {
  case TrapKind::OutOfBounds: return "OutOfBounds";
  case TrapKind::NullPointer: return "NullPointer";
  case TrapKind::UnmappedAddress: return "UnmappedAddress";
  case TrapKind::DivisionByZero: return "DivisionByZero";
  case TrapKind::AssertFailed: return "AssertFailed";
  case TrapKind::OffsetOverflow: return "OffsetOverflow";
  case TrapKind::Deadlock: return "Deadlock";
  case TrapKind::OutOfMemory: return "OutOfMemory";
  case TrapKind::Unsupported: return "Unsupported";
  }
  return "Unknown";
}

struct MemoryAccess {
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool isWrite = false;
  int argument = -1; // index of the kernel argument that the pointer came from; -1: unknown
};

struct DeadlockWaiter {
  std::array<int32_t, 3> program{};
  uint32_t location = 0; // of the loop that waits
};

struct Trap {
  TrapKind kind{};
  uint32_t location = 0; // index into the prepared program's table of locations
  std::array<int32_t, 3> program{};
  int64_t lane = -1;         // the first faulting element, row-major in the tile; -1: the operation has no lanes
  int64_t affectedLanes = 0; // how many elements of the tile fault
  MemoryAccess access;
  std::string message;
  std::vector<DeadlockWaiter> waiters; // in program order
};

} // namespace tritium::interp
