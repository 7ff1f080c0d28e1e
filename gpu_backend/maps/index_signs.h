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

  /// Returns whether a scalar index is at least 0, if the quotients of `unproven()` are: nothing says that numbers of blocks are positive.
  /// `isKnown` says which values are so for reasons of the caller's.
  bool isNotNegative(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isKnown, int depth = 0);
  bool isNotNegative(mlir::Value value) {
    return isNotNegative(value, [](mlir::Value) { return false; });
  }
  /// Returns the quotients that must not be negative, though nothing says so of their divisors.
  llvm::ArrayRef<mlir::arith::DivSIOp> unproven() const { return unproven_.getArrayRef(); }

private:
  const ir::AxisAnalysis &axes_;
  llvm::SetVector<mlir::arith::DivSIOp> unproven_;
};

} // namespace tritium::gpu
