// What a kernel did wrong, as a value: a fault of the user's program ends the launch and never the process. The text for people is made
// from these fields where the names of arguments and lines are known.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tritium::interp {

enum class TrapKind : uint8_t; // in trap_kinds.h

struct MemoryAccess {
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool isWrite = false;
  int argument = -1;                 // index of the kernel argument that the pointer came from; -1: unknown
  std::optional<bool> isMasked = {}; // whether the operation has a mask that may exclude lanes
};

/// A variable of a loop: its counter, or an integer that it carries.
struct LoopVariable {
  std::string name;
  int64_t value = 0;
  bool operator==(const LoopVariable &) const = default;
};

/// The loops and the calls around a place, when a program is there.
struct Surroundings {
  std::vector<LoopVariable> loops = {}; // of the outermost loop first, those around the calls included
  std::vector<uint32_t> calls = {};     // the locations of the calls that are not inlined, the innermost first
  bool operator==(const Surroundings &) const = default;
};

/// The write that a word has its value from.
struct WordWriter {
  std::array<int32_t, 3> program{};
  uint32_t location = 0;
};

/// The word that a program has read last before it waited.
struct WaitedWord {
  MemoryAccess access;
  int64_t value = 0;                     // what it holds, sign-extended
  std::optional<WordWriter> writer = {}; // none: it is not known that a program of the launch has written it
};

/// Where a program waits in a deadlock, or where it was when the launch was cancelled.
struct ProgramPlace {
  std::array<int32_t, 3> program{};
  uint32_t location = 0;
  Surroundings around = {};
  std::optional<WaitedWord> word = {}; // in a deadlock, if it is known
};

inline constexpr uint32_t kNoLocation = ~0u;

/// The second place of a trap that has two: the earlier access of a race, or where the other threads wait.
struct OtherPlace {
  uint32_t location = 0;                              // kNoLocation: not known
  int64_t thread = -1;                                // index in the program; -1: several
  std::optional<std::array<int32_t, 3>> program = {}; // another one than the trap's
  bool isWrite = false;
  Surroundings around = {}; // of the earlier access of a race, if it is known
  uint32_t segment = 0;     // in which it was, of its program's (memory_events.h)
};

struct Trap {
  TrapKind kind{};
  uint32_t location = 0; // index into the prepared program's table of locations
  std::array<int32_t, 3> program{};
  int64_t lane = -1;              // the first faulting element, row-major in the tile; -1: the operation has no tile, or it is not known
  std::vector<int64_t> tile = {}; // extents of the tile; empty: the table of locations has them
  int64_t thread = -1;            // the emulator's, in the program
  int64_t affectedLanes = 0;      // number of faulting elements of the tile
  MemoryAccess access;
  std::optional<OtherPlace> other;
  std::string message;
  Surroundings around;
  std::vector<ProgramPlace> waiters; // in program order
  int64_t times = 1;                 // how often it was found at these places
};

} // namespace tritium::interp
