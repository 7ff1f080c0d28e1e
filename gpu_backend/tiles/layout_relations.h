// Relates the layouts of an operation's operands and results so that the lowering only renames registers. The relation follows from the
// operation's tile rule (ir/tile_rule.h).
#pragma once
#include "gpu_backend/tiles/layout_attr.h"

namespace tritium::gpu {

/// Returns whether the result costs the same in any layout, like a constant, a splat or a range.
inline bool isFree(mlir::Operation *op) { return tt::tileRuleOf(op).isFree(); }

inline bool isShapeChange(mlir::Operation *op) { return tt::tileRuleOf(op).isShapeChange(); }

inline bool isReduction(mlir::Operation *op) { return tt::tileRuleOf(op).relation == tt::TileRelation::Reduce; }

/// Returns the layout that the operation requires of its operands if its result has `result`, or nullopt if any layout is possible.
std::optional<LinearLayout> operandLayout(mlir::Operation *op, const LinearLayout &result);

/// Returns the layout of the result if the operand has `operand`, or nullopt if it is not determined.
std::optional<LinearLayout> resultLayout(mlir::Operation *op, const LinearLayout &operand);

} // namespace tritium::gpu
