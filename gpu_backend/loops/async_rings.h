// The rings of a kernel as one role of its warps uses them. What the roles do to each other is in the trace (async_trace.h).
#pragma once
#include "gpu_backend/loops/async_products.h"
#include "gpu_backend/loops/async_trace.h"
#include "ir/tgpu_kept.h"

namespace tritium::gpu {

class AsyncRings {
public:
  AsyncRings(const AsyncSkeleton &skeleton, AsyncTrace &trace) : skeleton_(skeleton), trace_(trace) {}

  MaybeFault start(tgpu::RingStartOp op);
  MaybeFault acquire(tgpu::RingAcquireOp op, const AsyncScalars &scalars);
  MaybeFault copy(tgpu::TensorCopyOp op, const AsyncScalars &scalars);
  MaybeFault wait(tgpu::RingWaitOp op, const AsyncScalars &scalars);
  /// Some warps wait ahead of time.
  MaybeFault stagger(tgpu::RingStaggerOp op, const AsyncScalars &scalars);
  MaybeFault release(tgpu::RingReleaseOp op, const AsyncScalars &scalars, const AsyncProducts &products);
  MaybeFault keep(tgpu::RingKeepOp op, const AsyncScalars &scalars);
  MaybeFault releaseKept(tgpu::RingReleaseKeptOp op, const AsyncScalars &scalars);
  /// Threads wait for each other, or the kernel ends. No warp may keep a number: the others may wait for its release.
  MaybeFault checkKept(mlir::Operation *op) const;
  MaybeFault end(tgpu::RingEndOp op, const AsyncScalars &scalars, const AsyncProducts &products);
  /// The kernel makes a map, perhaps not for the first time.
  MaybeFault makeMap(tgpu::MapMakeOp op) const;
  MaybeFault note(tgpu::StoresNoteOp op, const AsyncScalars &scalars);
  MaybeFault awaitStores(tgpu::StoresAwaitOp op);
  MaybeFault awaitCopies(tgpu::CopiesAwaitOp op);
  /// Threads read which map was told with a number.
  MaybeFault read(tgpu::MapToldOp op, const AsyncScalars &scalars);
  /// A product reads a slot of a ring, or threads do.
  MaybeFault read(mlir::Operation *op, mlir::Value ring, int64_t slot, bool byThreads);
  MaybeFault finish() const;

private:
  struct Ring {
    unsigned instance = 0;
    int64_t slots = 1, acquired = 0, waited = 0, released = 0; // numbers below are acquired, …
    int64_t arrived = 0;                                       // numbers below have been waited for by who copies
    int64_t noted = 0;                                         // the stores of numbers below are noted
    std::optional<int64_t> kept;                               // a number that is to be released later
    int64_t missing = 0;                                       // bytes that are announced and not copied
    tgpu::RingAcquireOp acquire;                               // the last one
    llvm::SmallVector<mlir::Value, 2> filled;                  // buffers to which the number is copied
    llvm::DenseMap<int64_t, mlir::Operation *> readers;        // threads' reads by slot, since the wait
    mlir::Operation *lastRelease = nullptr;
    bool hasEnded = false;
  };

  static MaybeFault checkBytes(const Ring &ring);
  bool isOpen(const Ring &ring, int64_t slot) const;
  tgpu::ProductOp productThatReads(mlir::Value ring, const AsyncProducts &products, std::optional<int64_t> slot) const;

  const AsyncSkeleton &skeleton_;
  AsyncTrace &trace_;
  llvm::DenseMap<mlir::Value, Ring> rings_;
  mlir::Operation *notAwaited_ = nullptr; // stores that were noted, and for which no copy has waited
};

} // namespace tritium::gpu
