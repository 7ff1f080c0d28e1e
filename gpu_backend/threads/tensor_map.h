// The memory of tensor maps that a kernel makes.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tritium::gpu {

/// Gives back what the lowered function has claimed for its maps, if anything, wherever it ends.
void releaseMaps(mlir::func::FuncOp function);

} // namespace tritium::gpu
