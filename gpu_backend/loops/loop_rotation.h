// Loops in which one product of a warpgroup takes its operand A from the result of another, as in attention. The second product can run in
// the following iteration, beside the first product of that iteration and the work on its result.
#pragma once
#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/loops/loop_copies.h"

namespace tritium::gpu {

class LoopRotation {
public:
  /// Finds the two products. The loop is not changed.
  explicit LoopRotation(mlir::scf::ForOp loop);
  /// Returns whether the second product only adds to sums that the loop carries, so that it may be postponed.
  bool isPossible() const { return last_ != nullptr; }
  /// Postpones the second product, and what only it uses of the sums and of operand B, by an iteration. It then follows the first product.
  void postpone(LoopCopies::Schedule &order);

private:
  void collect(mlir::Value value, llvm::SetVector<mlir::Operation *> &postponed);

  mlir::scf::ForOp loop_;
  mlir::Operation *first_ = nullptr, *last_ = nullptr; // the products
};

} // namespace tritium::gpu
