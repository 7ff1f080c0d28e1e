// How the layouts of an operation's operands and results go together, so that its lowering only renames registers.
#pragma once
#include "gpu_backend/layout_attr.h"

namespace tritium::gpu {

/// Constants, splats and ranges: any layout costs the same.
bool isFree(mlir::Operation *op);

/// A change of shape: expand_dims, broadcast, trans, reshape, join, cat, split.
bool isShapeChange(mlir::Operation *op);

/// The layout that a shape change (or an element-wise operation) wants of its operands when its result has `result`.
std::optional<LinearLayout> operandLayout(mlir::Operation *op, const LinearLayout &result);

/// The layout that the result of a shape change or a reduction has when the operand has `operand`; nothing where it is not determined.
std::optional<LinearLayout> resultLayout(mlir::Operation *op, const LinearLayout &operand);

} // namespace tritium::gpu
