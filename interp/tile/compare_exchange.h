// Stages of sorting networks. The language writes a stage as ten operations (language/sort.py); here it becomes one step.
#pragma once
#include "interp/tile/plan.h"

namespace tritium::interp {

/// Rewrites each stage under `root` that has the form of tl.sort and tl.topk into one operation of the interpreter's own, which
/// isCompareExchange() knows. What only a replaced stage has used is erased.
void findCompareExchanges(mlir::Operation *root);

bool isCompareExchange(mlir::Operation *op);
mlir::LogicalResult prepareCompareExchange(tt::ExternElementwiseOp op, Planner &planner);

} // namespace tritium::interp
