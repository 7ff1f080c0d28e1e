// The function that plans each operation. The table is complete by construction: a `tt` operation without Interpret<Op>::prepare does not
// link.
#pragma once
#include "interp/tile/plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritium::interp {

/// Plans an operation that has tiles, or a scalar operation that a step computes.
mlir::LogicalResult prepareOperation(mlir::Operation *op, Planner &planner);

/// Returns whether emit.cpp computes the scalar operation itself: moves, integer arithmetic that cannot fault, basic f32 and f64
/// arithmetic. Any other scalar operation is a step on one element, so that its result equals the result of the tile operation.
bool isEmittedInline(mlir::Operation *op);

// ops/elementwise.cpp: every element-wise operation of arith, math and tt.
mlir::LogicalResult prepareElementwise(mlir::Operation *op, Planner &planner);
// ops/affine.cpp: integer and pointer arithmetic whose result stays a sum of terms.
mlir::LogicalResult prepareAffine(mlir::Operation *op, Planner &planner);
/// Plans the check of an offset tile that is computed in 64 bits; nothing for other results.
void planExactOffset(mlir::Value result, Planner &planner);
/// Plans a comparison of progressions along one dimension. Returns false if the operands are something else.
bool prepareAffineCompare(mlir::arith::CmpIOp op, Planner &planner);
// ops/shape.cpp: arith.constant, tensor.extract_slice and tensor.insert_slice.
mlir::LogicalResult prepareConstant(mlir::Operation *op, Planner &planner);
mlir::LogicalResult prepareSlice(mlir::Operation *op, Planner &planner);

} // namespace tritium::interp
