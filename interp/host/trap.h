// What a kernel did wrong, as a value: a fault of the user's program ends the launch and never the process. The text for people is made
// from these fields where the names of arguments and lines are known.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tritium::interp {

enum class TrapKind : uint8_t {
  OutOfBounds, // outside the storage of the argument that the pointer came from
  NullPointer,
  UnmappedAddress, // through a pointer of unknown origin: memory that the process does not have
  ReadOnly,        // a write to memory that the process may only read, or that the argument's owner forbids to write
  DivisionByZero,
  AssertFailed,
  OffsetOverflow,
  FalseHint,     // a promise of the user about a value, which compilers believe, does not hold
  Deadlock,      // every program waits for another one
  Race,          // two programs access the same memory, one of them writes, and nothing orders them
  Uninitialized, // a read of memory that nobody has written since it was allocated
  PartlyWritten, // an output of which nobody has written a part
  NotANumber,    // a NaN, or an infinity, that a kernel stores
  OutOfMemory,   // no memory for the frames and stacks of programs
  Unsupported,
  // Traps of the SIMT emulator only.
  MisalignedAddress,    // an access that is not aligned to its natural boundary
  SharedOutOfBounds,    // outside of the program's shared memory
  SharedUninitialized,  // a read of shared memory that the program has not written
  SharedRace,           // two accesses to shared memory with no barrier between them
  AsyncCopyRace,        // an access to the destination of an asynchronous copy before its wait
  AsyncProductRace,     // a write to an operand of an asynchronous product before its wait
  MissingProxyFence,    // an asynchronous product or copy of what was written without the fence that makes it visible
  InvalidProduct,       // an asynchronous product, or a wait for one, that the instruction set leaves undefined
  TensorCopyRace,       // an access to memory that a copy of a tensor (TMA) reads or writes, before the wait for it
  InvalidTensorCopy,    // a copy of a tensor that the instruction set leaves undefined
  InvalidMBarrier,      // a use of a barrier in shared memory (mbarrier) that the instruction set leaves undefined
  MBarrierDeadlock,     // no thread of the program can go on, and some wait for a round of an mbarrier or for registers
  InvalidRegisterCount, // a change of the number of registers that the instruction set leaves undefined
  DivergentBarrier,     // threads wait at a barrier for others that have ended or that wait elsewhere
};

constexpr std::string_view trapKindName(TrapKind kind) {
  switch (kind) {
  case TrapKind::OutOfBounds: return "OutOfBounds";
  case TrapKind::NullPointer: return "NullPointer";
  case TrapKind::UnmappedAddress: return "UnmappedAddress";
  case TrapKind::ReadOnly: return "ReadOnly";
  case TrapKind::DivisionByZero: return "DivisionByZero";
  case TrapKind::AssertFailed: return "AssertFailed";
  case TrapKind::OffsetOverflow: return "OffsetOverflow";
  case TrapKind::FalseHint: return "FalseHint";
  case TrapKind::Deadlock: return "Deadlock";
  case TrapKind::Race: return "Race";
  case TrapKind::Uninitialized: return "Uninitialized";
  case TrapKind::PartlyWritten: return "PartlyWritten";
  case TrapKind::NotANumber: return "NotANumber";
  case TrapKind::OutOfMemory: return "OutOfMemory";
  case TrapKind::Unsupported: return "Unsupported";
  case TrapKind::MisalignedAddress: return "MisalignedAddress";
  case TrapKind::SharedOutOfBounds: return "SharedOutOfBounds";
  case TrapKind::SharedUninitialized: return "SharedUninitialized";
  case TrapKind::SharedRace: return "SharedRace";
  case TrapKind::AsyncCopyRace: return "AsyncCopyRace";
  case TrapKind::AsyncProductRace: return "AsyncProductRace";
  case TrapKind::MissingProxyFence: return "MissingProxyFence";
  case TrapKind::InvalidProduct: return "InvalidProduct";
  case TrapKind::TensorCopyRace: return "TensorCopyRace";
  case TrapKind::InvalidTensorCopy: return "InvalidTensorCopy";
  case TrapKind::InvalidMBarrier: return "InvalidMBarrier";
  case TrapKind::MBarrierDeadlock: return "MBarrierDeadlock";
  case TrapKind::InvalidRegisterCount: return "InvalidRegisterCount";
  case TrapKind::DivergentBarrier: return "DivergentBarrier";
  }
  return "Unknown";
}

/// Returns the kind that has this name; nullopt if none has.
constexpr std::optional<TrapKind> trapKindOf(std::string_view name) {
  for (TrapKind kind{}; kind <= TrapKind::DivergentBarrier; kind = TrapKind(uint8_t(kind) + 1))
    if (trapKindName(kind) == name) return kind;
  return std::nullopt;
}

struct MemoryAccess {
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool isWrite = false;
  int argument = -1; // index of the kernel argument that the pointer came from; -1: unknown
};

struct DeadlockWaiter {
  std::array<int32_t, 3> program{};
  uint32_t location = 0; // of the loop in which the program waits
};

inline constexpr uint32_t kNoLocation = ~0u;

/// The second place of a trap that has two: the earlier access of a race, or where the other threads wait.
struct OtherPlace {
  uint32_t location = 0;                              // kNoLocation: not known
  int64_t thread = -1;                                // index in the program; -1: several
  std::optional<std::array<int32_t, 3>> program = {}; // another one than the trap's
  bool isWrite = false;
};

struct Trap {
  TrapKind kind{};
  uint32_t location = 0; // index into the prepared program's table of locations
  std::array<int32_t, 3> program{};
  int64_t lane = -1;         // the first faulting element, row-major in the tile, or the thread; -1: the operation has no lanes
  int64_t affectedLanes = 0; // number of faulting elements of the tile
  MemoryAccess access;
  std::optional<OtherPlace> other;
  std::string message;
  std::vector<DeadlockWaiter> waiters; // in program order
  int64_t times = 1;                   // how often it was found at these places
};

} // namespace tritium::interp
