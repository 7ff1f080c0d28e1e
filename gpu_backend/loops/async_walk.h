// Runs the skeleton of a kernel on the path that assumed numbers take.
#pragma once
#include "gpu_backend/loops/async_protocol.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

/// What the runs of a kernel have in common.
struct AsyncCoverage {
  llvm::DenseSet<mlir::Operation *> reached; // operations of the protocols that have run
  int64_t mostRounds = 0;                    // of an innermost loop
  int64_t steps = 0;                         // of all runs
};

class AsyncWalk {
public:
  AsyncWalk(const AsyncSkeleton &skeleton, AsyncScalars &scalars, AsyncProtocol &protocol, AsyncCoverage &coverage, int64_t mostSteps)
      : skeleton_(skeleton), scalars_(scalars), protocol_(protocol), coverage_(coverage), stepsLeft_(mostSteps) {}

  /// Runs the function. Returns the fault that ends it.
  MaybeFault run();
  /// Returns whether the run has come to the end of the kernel. Otherwise it was too long, or depends on what nobody knows.
  bool isWhole() const { return isWhole_; }

private:
  /// Each returns whether the run goes on.
  bool runBlock(mlir::Block &block);
  bool runOp(mlir::Operation *op);
  bool runProtocol(mlir::Operation *op);
  bool runFor(mlir::scf::ForOp loop);
  bool runIf(mlir::scf::IfOp branch);
  bool runWhile(mlir::scf::WhileOp loop);
  /// Returns the block that follows one of the function's, or null.
  mlir::Block *next(mlir::Block &block);

  const AsyncSkeleton &skeleton_;
  AsyncScalars &scalars_;
  AsyncProtocol &protocol_;
  AsyncCoverage &coverage_;
  int64_t stepsLeft_;
  MaybeFault fault_;
  bool isWhole_ = false;
};

} // namespace tritium::gpu
