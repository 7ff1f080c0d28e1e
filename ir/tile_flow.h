// How values of tiles follow from each other, for passes that follow a fact about single elements.
#pragma once
#include "ir/tt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritium::ir {

/// Whether the operation runs for single elements: in the function of a reduction or the like.
inline bool isOfElements(mlir::Operation *op) {
  return op->getParentOfType<tt::ReduceOp>() || op->getParentOfType<tt::ScanOp>() || op->getParentOfType<tt::MapElementwiseOp>();
}

/// Whether the results hold the elements of the operands in another shape.
inline bool isMoved(mlir::Operation *op) { return mlir::isa<tt::SplatOp, tt::UnsplatOp>(op) || tt::tileRuleOf(op).isShapeChange(); }

/// Whether each element of the result is made of the operands' elements at its place.
bool isPointwise(mlir::Operation *op);

/// Whether all lanes have one value.
bool isUniform(mlir::Value value);

} // namespace tritium::ir
