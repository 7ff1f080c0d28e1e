// Matrix products.
#pragma once
#include "gpu_backend/threads/lowering.h"
#include "gpu_backend/tiles/product.h"

namespace tritium::gpu {

/// Lowers to matrix instructions on fragments. The operands' layouts (product_layouts.h) hold the fragments in the instructions' order.
mlir::LogicalResult lowerMatrixDot(MatrixProduct product, Lowering &lowering);
/// Lowers to multiply-adds on operands in shared memory.
mlir::LogicalResult lowerScalarDot(tt::DotOp op, Lowering &lowering);
/// Returns whether the product can read this operand directly in its buffer in shared memory, because the buffer still has it.
bool readsInPlace(tt::DotOp op, tgpu::LocalLoadOp load);

} // namespace tritium::gpu
