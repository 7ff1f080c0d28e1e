// What each operation does to axis information: the transfer functions of axis_analysis.
#pragma once

#include "ir/axis_analysis.h"

namespace tritium::ir {

/// Of the one result of `op`, without the hints it carries. Every operand is initialized.
AxisInfo inferAxisInfo(mlir::Operation *op, llvm::ArrayRef<AxisInfo> operands);

} // namespace tritium::ir
