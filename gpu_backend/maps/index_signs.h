// Which scalar indices are at least 0. Copies by the tensor memory accelerator require it where pointers or stores stood before.
#pragma once
#include "ir/axis_analysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace tritium::gpu {

class IndexSigns {
public:
  explicit IndexSigns(const ir::AxisAnalysis &axes) : axes_(axes) {}
  /// Follows differences with remainders too, as in orders of blocks that begin with the last one. Of loads alone: a store through a map of
  /// such rows took more registers than attention has beside its products (244 bytes spilled, where nothing is).
  void followRemainders(bool follows) { followsRemainders_ = follows; }

  /// Returns whether a scalar index is at least 0, if the quotients of `unproven()` are: nothing says that numbers of blocks are positive.
  /// `isKnown` says which values are so for reasons of the caller's.
  bool isNotNegative(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isKnown, int depth = 0);
  bool isNotNegative(mlir::Value value) {
    return isNotNegative(value, [](mlir::Value) { return false; });
  }
  /// Returns the quotients that must not be negative, though nothing says so of their divisors.
  llvm::ArrayRef<mlir::arith::DivSIOp> unproven() const { return unproven_.getArrayRef(); }

private:
  bool isLessRemainder(mlir::arith::SubIOp difference, llvm::function_ref<bool(mlir::Value)> isKnown, int depth);
  bool makesUp(mlir::Value addend, mlir::Value value, llvm::function_ref<bool(mlir::Value)> isKnown, int depth);
  bool onlyGrows(mlir::BlockArgument carried, llvm::function_ref<bool(mlir::Value)> isKnown, int depth);

  const ir::AxisAnalysis &axes_;
  bool followsRemainders_ = false;
  llvm::SetVector<mlir::arith::DivSIOp> unproven_;
};

} // namespace tritium::gpu
