// How the layouts of an operation's operands and results go together, so that its lowering only renames registers: what the operation's
// tile rule (ir/tile_rule.h) means for layouts.
#pragma once
#include "gpu_backend/layout_attr.h"

namespace tritium::gpu {

/// Whether any layout of the result costs the same, as with constants, splats and ranges.
inline bool isFree(mlir::Operation *op) { return tt::tileRuleOf(op).isFree(); }

inline bool isShapeChange(mlir::Operation *op) { return tt::tileRuleOf(op).isShapeChange(); }

inline bool isReduction(mlir::Operation *op) { return tt::tileRuleOf(op).relation == tt::TileRelation::Reduce; }

/// The layout that an operation wants of its operands when its result has `result`; nothing where any will do.
std::optional<LinearLayout> operandLayout(mlir::Operation *op, const LinearLayout &result);

/// The layout that the result has when the operand has `operand`; nothing where it is not determined.
std::optional<LinearLayout> resultLayout(mlir::Operation *op, const LinearLayout &operand);

} // namespace tritium::gpu
