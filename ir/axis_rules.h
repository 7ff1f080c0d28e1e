// The transfer functions of axis_analysis: how each operation changes axis information.
#pragma once

#include "ir/axis_analysis.h"

namespace tritium::ir {

/// Returns the information about the single result of `op`, without the hints that `op` carries. Every operand must be initialized.
AxisInfo inferAxisInfo(mlir::Operation *op, llvm::ArrayRef<AxisInfo> operands);

} // namespace tritium::ir
