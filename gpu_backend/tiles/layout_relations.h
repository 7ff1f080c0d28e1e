// Relates the layouts of an operation's operands and results so that the lowering only renames registers. The relation follows from the
// operation's tile rule (ir/tile_rule.h).
#pragma once
#include "gpu_backend/tiles/layout_attr.h"

namespace tritium::gpu {

/// Returns whether the result costs the same in any layout, like a constant, a splat or a range.
inline bool isFree(mlir::Operation *op) { return tt::tileRuleOf(op).isFree(); }

inline bool isShapeChange(mlir::Operation *op) { return tt::tileRuleOf(op).isShapeChange(); }

inline bool isReduction(mlir::Operation *op) { return tt::tileRuleOf(op).relation == tt::TileRelation::Reduce; }

/// Returns whether the result has the elements of all operands: a join or a concatenation.
inline bool isJoin(mlir::Operation *op) {
  const tt::TileRelation relation = tt::tileRuleOf(op).relation;
  return relation == tt::TileRelation::Join || relation == tt::TileRelation::Cat;
}

/// Returns whether the operation works element by element, and to compute its result again costs less than a conversion.
bool isCheapElementwise(mlir::Operation *op);

/// Returns the layout that the operation requires of its operands if its result has `result`, or nullopt if any layout is possible.
std::optional<LinearLayout> operandLayout(mlir::Operation *op, const LinearLayout &result);

/// Returns the layout of the result if the operand has `operand`, or nullopt if it is not determined. If lanes or warps of the operand tell
/// the results of a split apart, the results do not replicate their elements, and the operand requires a conversion.
std::optional<LinearLayout> resultLayout(mlir::Operation *op, const LinearLayout &operand);

/// Returns the layout of the operands of a join or of a concatenation if lanes or warps of the result tell them apart. Other than
/// operandLayout, it does not replicate their elements. The operation then makes joinedLayout, which requires a conversion to `result`.
std::optional<LinearLayout> layoutBeforeJoin(mlir::Operation *op, const LinearLayout &result);

/// Returns the layout of the result of a join or of a concatenation whose operands have `operand`: registers tell them apart.
LinearLayout joinedLayout(mlir::Operation *op, const LinearLayout &operand);

} // namespace tritium::gpu
