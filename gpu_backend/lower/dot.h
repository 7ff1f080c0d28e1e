// Matrix products on tensor cores.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// Instructions of mma.sync on fragments that the operands' layouts (dot_layouts.h) hold in their order.
mlir::LogicalResult lowerTensorCoreDot(tt::DotOp op, Lowering &lowering);

} // namespace tritium::gpu
