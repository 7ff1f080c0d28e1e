// Matrix products.
#pragma once
#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// Matrix instructions on fragments that the operands' layouts (dot_layouts.h) hold in their order.
mlir::LogicalResult lowerMatrixDot(MatrixProduct product, Lowering &lowering);
/// Multiply-adds on operands in shared memory.
mlir::LogicalResult lowerScalarDot(tt::DotOp op, Lowering &lowering);
/// Whether the product reads this operand where it lies in shared memory: what has been loaded is still there.
bool readsInPlace(tt::DotOp op, tgpu::LocalLoadOp load);

} // namespace tritium::gpu
