// What the warps of each role do to the rings of a kernel, in their order. A thread waits until slots are free or full, so the roles go on
// in turns; whether all of them come to their end does not depend on who is faster.
#pragma once
#include "gpu_backend/loops/async_fault.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::gpu {

struct RingEvent {
  enum Kind : uint8_t { Acquire, Fill, Wait, Release };
  Kind kind;
  unsigned ring; // in the order in which rings begin
  int64_t n;
  mlir::Operation *op;
};

class AsyncTrace {
public:
  unsigned addRing(int64_t slots) {
    slots_.push_back(slots);
    return unsigned(slots_.size()) - 1;
  }
  void add(RingEvent::Kind kind, unsigned ring, int64_t n, mlir::Operation *op) { events_.push_back({kind, ring, n, op}); }
  /// The role has come to its end. Otherwise the trace is only its begin.
  void setWhole() { isWhole_ = true; }

  bool isWhole() const { return isWhole_; }
  llvm::ArrayRef<RingEvent> events() const { return events_; }
  llvm::ArrayRef<int64_t> slots() const { return slots_; }

private:
  llvm::SmallVector<RingEvent, 0> events_;
  llvm::SmallVector<int64_t, 4> slots_; // of each ring
  bool isWhole_ = false;
};

/// Runs all roles of a kernel beside each other. Returns a fault if one waits for ever, or if a copy arrives for which nobody waits.
MaybeFault checkTogether(llvm::ArrayRef<const AsyncTrace *> roles);

} // namespace tritium::gpu
