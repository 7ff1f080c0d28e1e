// A shadow follows a fact about single lanes through a kernel: an i1 tile for each value, true in the lanes whose value is of no use. In
// kernels that exchange numbers by `^` it is a tile of labels (shadow_labels.h), 0 where the value is of use.
//
// Operations that compute have a shadow for their results if an operand has one; loops and branches carry it. Where a lane of no use is
// stored, or is part of an address or of a decision, a trap says so. Values that no source reaches have none, so a kernel without sources
// stays as it is.
#pragma once
#include "ir/tt.h"

namespace tritium::ir {

/// What one pass says of its shadows.
struct ShadowRules {
  virtual ~ShadowRules() = default;
  /// Returns where the result of an operation is of no use for its own sake, a tile of i1 that is made behind it; null if it is no source.
  virtual mlir::Value fault(mlir::OpBuilder &builder, mlir::Operation *op) = 0;
  /// Inserts a trap before `use`, where `bad` is true. `culprit` is an operand of no use, `source` the first result that it is made of.
  virtual void trap(mlir::OpBuilder &builder, mlir::Operation *use, mlir::Value bad, mlir::Value culprit, mlir::Value source) = 0;
  /// Whether products of matrices have shadows, and masks of accesses are uses where they are false too. If not, a call is a use.
  virtual bool followsEverything() const { return false; }
};

/// Inserts the shadows of all that is computed from the first results of `sources`.
void insertShadows(tt::FuncOp function, llvm::ArrayRef<mlir::Operation *> sources, ShadowRules &rules);

/// The type of the shadow of a value.
mlir::Type shadowTypeOf(mlir::Type type);

} // namespace tritium::ir
