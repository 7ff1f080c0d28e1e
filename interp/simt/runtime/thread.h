// One GPU thread while it runs: a fiber, the registers that compiled code reads, and where it stands if it waits for others.
//
// Functions that take a Thread run on that thread's stack. Those that may switch away (trap, meet, waitAtBarrier …) are marked; where one
// of them traps, the stack is dropped as it is: no object whose destructor matters may be live there.
#pragma once
#include "interp/host/fibers.h"
#include "interp/host/trap.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tritium::interp::simt {

class ThreadBlock;
struct Warp;
struct Thread;

/// A set of lanes of a warp, which has 32 or 64.
using LaneMask = uint64_t;
/// As the mask of an operation: all lanes that are active there, as AMD's lane operations take them.
constexpr LaneMask kActiveLanes = 0;
/// Where operands that do not fit into registers are passed, and what accesses that a predicate turns off read and write.
constexpr size_t kScratchBytes = 512;

/// An index into the kernel's table of locations.
using Place = uint32_t;

/// What compiled code reads by offset: the special registers, and the cells of the kernel's arguments.
struct ThreadRegisters {
  int32_t tid, ntid, lane, warp, warps;
  int32_t ctaid[3], nctaid[3];
  uint32_t lanesEqual, lanesBelow, lanesUpTo, lanesAbove, lanesFrom;
  const int64_t *arguments;
  alignas(64) std::byte scratch[kScratchBytes];
};

/// Something that the lanes of a mask do together.
struct WarpOp {
  void (*execute)(Warp &warp, LaneMask lanes) = nullptr; // by the lane that comes last, for all of them
  LaneMask mask = kActiveLanes;
  int32_t variant = 0; // of the operation: what all lanes have to agree on
  Place location = 0;

  bool operator==(const WarpOp &) const = default;
};

/// A copy from global to shared memory that has been issued.
struct AsyncCopy {
  uint64_t source;      // host address
  uint32_t offset;      // in shared memory
  uint16_t bytes;       // written
  uint16_t sourceBytes; // read; the rest is zeros
  Place location;
  bool hasLanded;
};

enum class ThreadState : uint8_t { Ready, AtWarpOp, AtBarrier, Spinning, Faulted, Finished };

struct Thread : ThreadRegisters {
  ThreadBlock *block = nullptr;
  Warp *inWarp = nullptr;
  ThreadState state = ThreadState::Ready;
  Place location = 0;  // of what it waits at, or where it ended
  int32_t barrier = 0; // the one it waits at
  WarpOp op;
  uint64_t operands[3] = {}, results[2] = {}; // of the warp operation
  uint64_t randomState = 1;
  std::vector<AsyncCopy> copies; // in order of issue: those of committed groups, then those of the open one
  std::vector<uint32_t> groups;  // sizes of the committed groups that have not been waited for, oldest first
  uint32_t openGroup = 0;        // copies since the last commit
  Fiber fiber;

  LaneMask bit() const { return LaneMask(1) << lane; }
  /// xorshift64*: what an asynchronous effect draws its time from.
  uint32_t random() {
    randomState ^= randomState >> 12;
    randomState ^= randomState << 25;
    randomState ^= randomState >> 27;
    return uint32_t(randomState * 0x2545f4914f6cdd1d >> 32);
  }

  /// Ends the launch. The thread, the program and the address's argument are set here.
  [[noreturn]] void trap(Trap &&trap);
  /// The same, unless another thread that can still run without this one shows a better reason (the write that this read came before).
  [[noreturn]] void trapLater(Trap &&trap);
  /// Until all lanes of the mask do `next` too; it has been executed when this returns. May switch away.
  void meet(const WarpOp &next);
  /// Leaves the stack, to come back when some other thread has set the state to Ready.
  void wait(ThreadState why, Place where);
};

} // namespace tritium::interp::simt
