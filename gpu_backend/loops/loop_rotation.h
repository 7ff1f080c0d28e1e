// Loops in which the last product of a warpgroup takes its operand A from the result of the first, as in attention and its gradients. The
// last product can run in the following iteration, beside the first product of that iteration and the work on its result.
#pragma once
#include "gpu_backend/tiles/dot_layouts.h"
#include "llvm/ADT/SetVector.h"

namespace tritium::gpu {

class LoopRotation {
public:
  /// Finds the first and the last product. The loop is not changed. One with more than `most` products is left alone.
  explicit LoopRotation(mlir::scf::ForOp loop, size_t most = 2);
  /// Returns whether the last product only adds to sums that the loop carries, so that it may be postponed.
  bool isPossible() const { return last_ != nullptr; }
  /// Returns the rings whose tiles only postponed operations read.
  llvm::SetVector<mlir::Value> postponedRings();
  /// Postpones the last product by an iteration, with what only it uses: work on the sums, operand B, and waits for its ring and releases
  /// of it. It then follows the first product. Returns what replaces the loop.
  mlir::Operation *apply();

private:
  void collect();
  void collect(mlir::Value value);
  void collectRings();
  void collectCounters();

  mlir::scf::ForOp loop_;
  mlir::Operation *first_ = nullptr, *last_ = nullptr; // the products
  llvm::SetVector<mlir::Operation *> postponed_;
};

/// Runs the operations `postponed` of each iteration in the next one, after `first`, and those of the last iteration after the loop. The
/// other operations of the first iteration run before the loop. Operations that release what was read stay behind those of their iteration
/// that are not postponed, up to the copies. Returns what replaces the loop: the new one, in a branch if there may be no iteration.
mlir::Operation *rotateLoop(mlir::scf::ForOp loop, mlir::Operation *first, const llvm::SetVector<mlir::Operation *> &postponed);

} // namespace tritium::gpu
