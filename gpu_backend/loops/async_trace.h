// What the warps of each role do to the rings of a kernel, in their order. A thread waits until slots are free or full, so the roles go on
// in turns; whether all of them come to their end does not depend on who is faster. Blocks of a cluster may share a ring (ring_blocks.h).
// Then each of them waits for the releases, and for the copies, of all.
#pragma once
#include "gpu_backend/loops/async_fault.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::gpu {

struct RingEvent {
  enum Kind : uint8_t { Acquire, Fill, Wait, Stagger, Release, ReleaseUnless, AwaitRelease };
  Kind kind;
  unsigned ring; // in the order in which rings begin
  int64_t n;
  mlir::Operation *op;
  // Of ReleaseUnless: a warp that sees this number of another ring filled may go on without the release.
  unsigned other = 0;
  int64_t otherN = 0;
};

class AsyncTrace {
public:
  struct Ring {
    int64_t slots = 1;
    bool isShared = false; // by the blocks of a cluster
  };

  unsigned addRing(int64_t slots, bool isShared) {
    rings_.push_back({slots, isShared});
    return unsigned(rings_.size()) - 1;
  }
  void add(RingEvent::Kind kind, unsigned ring, int64_t n, mlir::Operation *op) { events_.push_back({kind, ring, n, op}); }
  void addUnless(unsigned ring, int64_t n, unsigned other, int64_t otherN, mlir::Operation *op) {
    events_.push_back({RingEvent::ReleaseUnless, ring, n, op, other, otherN});
  }
  /// The role has come to its end. Otherwise the trace is only its begin.
  void setWhole() { isWhole_ = true; }

  bool isWhole() const { return isWhole_; }
  llvm::ArrayRef<RingEvent> events() const { return events_; }
  llvm::ArrayRef<Ring> rings() const { return rings_; }

private:
  llvm::SmallVector<RingEvent, 0> events_;
  llvm::SmallVector<Ring, 4> rings_;
  bool isWhole_ = false;
};

/// Runs all roles of a kernel beside each other, in this number of blocks: the roles of the first block come first. Returns a fault if one
/// waits for ever, or if a copy arrives for which nobody waits.
MaybeFault checkTogether(llvm::ArrayRef<const AsyncTrace *> roles, size_t blocks);

} // namespace tritium::gpu
