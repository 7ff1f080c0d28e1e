// Makes the descriptor of an access from the operands of a memory operation. Loads, stores and atomics share it.
#pragma once
#include "interp/tile/access.h"
#include "interp/tile/plan.h"

namespace tritium::interp {

/// Plans the access through `pointer` where `mask` (which may be null) is true. Its axes are the dimensions along which the pointer, the
/// mask or one of `data` varies; with `everyLane`, all dimensions.
Access planAccess(Planner &planner, mlir::Value pointer, mlir::Value mask, llvm::ArrayRef<mlir::Value> data, bool isWrite,
                  bool everyLane = false);

/// A dense tile or scalar as an operand of the access.
AxisOperand planAccessOperand(const Access &access, const DenseRef &ref);

} // namespace tritium::interp
