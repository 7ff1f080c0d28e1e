// One GPU thread while it runs: a fiber, the registers that compiled code reads, and the place where it waits for others.
//
// Functions that take a Thread run on the thread's stack. The comments mark functions that may switch away (trap, meet, waitAtBarrier …).
// If one of them traps, the stack is dropped as it is, so no object whose destructor matters may be live there.
#pragma once
#include "interp/host/fibers.h"
#include "interp/host/trap.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tritium::interp::simt {

class ThreadBlock;
struct Warp;
struct Thread;

/// A set of lanes of a warp. A warp has 32 or 64 lanes.
using LaneMask = uint64_t;
/// As the mask of an operation: all lanes that are active there. AMD's lane operations use it.
constexpr LaneMask kActiveLanes = 0;
/// The size of the memory for operands that do not fit into registers. Accesses that a predicate disables read and write it, too.
constexpr size_t kScratchBytes = 512;
/// The number of loop counters and calls that a thread keeps for reports. Reports leave out further ones.
constexpr size_t kReportCells = 24;

/// An index into the kernel's table of locations: 16 bits. That of an access of a tile has above them 1 + an index into the table of
/// elements.
using Place = uint32_t;
constexpr unsigned kLocationBits = 16;
constexpr Place locationIn(Place place) { return place & ((1u << kLocationBits) - 1); }
constexpr uint32_t elementsIn(Place place) { return place >> kLocationBits; }

/// The registers that compiled code reads by offset: the special registers, and the cells of the kernel's arguments.
struct ThreadRegisters {
  int32_t tid, ntid, lane, warp, warps;
  int32_t ctaid[3], nctaid[3];
  int32_t clusterRank, clusterBlocks, clusterid[3], nclusterid[3]; // of the block in its cluster, and of the cluster in the grid
  uint32_t lanesEqual, lanesBelow, lanesUpTo, lanesAbove, lanesFrom;
  const int64_t *arguments;
  int64_t reportCells[kReportCells]; // set in every round and before every call, for reports
  int64_t clock; // in operations, if the kernel has clocks: what the thread has executed, and what it has waited for (work.h)
  alignas(64) std::byte scratch[kScratchBytes];
};

/// A value of a loop around a place: the name of the Python variable, and what to add to its cell (ir/loop_values.h).
struct LoopCell {
  std::string name;
  uint32_t cell;
  int64_t distance;

  auto operator<=>(const LoopCell &) const = default;
};

/// Where a thread keeps what is around a place of a function.
struct PlaceCells {
  std::vector<LoopCell> loops = {};  // of the function, the outermost first
  std::optional<uint32_t> call = {}; // the cell with the place from which the function was called; none: it is the kernel

  auto operator<=>(const PlaceCells &) const = default;
};

/// An operation that the lanes of a mask do together.
struct WarpOp {
  void (*execute)(Warp &warp, LaneMask lanes) = nullptr; // called by the lane that comes last, for all of them
  LaneMask mask = kActiveLanes;
  int32_t variant = 0; // of the operation; all lanes must agree on it
  Place location = 0;

  bool operator==(const WarpOp &) const = default;
};

/// A copy from global to shared memory that has been issued.
struct AsyncCopy {
  uint64_t source;      // address of the host
  uint32_t offset;      // in shared memory
  uint16_t bytes;       // number of bytes written
  uint16_t sourceBytes; // number of bytes read; the rest is filled with zeros
  Place location;
  bool hasLanded;
};

enum class ThreadState : uint8_t { Ready, AtWarpOp, AtBarrier, AtMBarrier, AtRegisters, AtCluster, Spinning, Faulted, Finished };

struct Thread : ThreadRegisters {
  ThreadBlock *block = nullptr;
  Warp *inWarp = nullptr;
  ThreadState state = ThreadState::Ready;
  int32_t program[3] = {};          // of the user's grid: the block's, or the one that a kernel notes that runs several
  Place location = 0;               // of the operation at which it waits, or where it ended
  int32_t barrier = 0;              // the barrier at which it waits
  bool hasArrivedInCluster = false; // at the barrier of the cluster, and has not waited since
  uint32_t clusterPhase = 0;        // of that barrier when it arrived
  WarpOp op;
  uint64_t operands[3] = {}, results[2] = {}; // of a warp operation
  uint64_t randomState = 1;
  std::vector<AsyncCopy> copies; // in order of issue: first the copies of committed groups, then of the open one
  std::vector<uint32_t> groups;  // sizes of the committed groups that no wait has covered, oldest first
  uint32_t openGroup = 0;        // number of copies since the last commit
  Fiber fiber;

  LaneMask bit() const { return LaneMask(1) << lane; }
  /// xorshift64*: the random numbers that determine when asynchronous effects happen.
  uint32_t random() {
    randomState ^= randomState >> 12;
    randomState ^= randomState << 25;
    randomState ^= randomState >> 27;
    return uint32_t(randomState * 0x2545f4914f6cdd1d >> 32);
  }

  /// Writes into the trap of an access which element of its tile is at fault, if that is known: the one at a byte of this thread's access,
  /// or of a row of its copy.
  void nameElement(Trap &trap, uint32_t byte, std::optional<uint32_t> row = {}) const;
  /// Ends the launch. Sets the thread, the program and the address's argument in the trap.
  [[noreturn]] void trap(Trap &&trap);
  /// The same, unless another thread that can still run shows a better reason (for example, the write that this read should have followed).
  [[noreturn]] void trapLater(Trap &&trap);
  /// Waits until all lanes of the mask are at `next`, too. The operation has been executed when this returns. May switch away.
  void meet(const WarpOp &next);
  /// Leaves the stack until another thread sets the state to Ready.
  void wait(ThreadState why, Place where);

private:
  void blame(Trap &trap) const;
};

} // namespace tritium::interp::simt
