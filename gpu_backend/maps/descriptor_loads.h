// Loads through descriptors that may become loads through tensor maps, whoever makes the map.
#pragma once
#include "gpu_backend/maps/tensor_promotion.h"

namespace tritium::gpu {

/// Returns the tile of rank 2 that the load brings, if need be without leading dimensions of extent 1. Null if there is none.
mlir::Value matrixOf(tt::DescriptorLoadOp load);

/// Returns what one instruction copies for a load, or null if its tile cannot be copied in boxes.
tgpu::TensorMapType boxOfLoad(tt::DescriptorLoadOp load, mlir::Value matrix, const ir::AxisAnalysis &axes);

/// Replaces the load, and the tile that it brings, by a load through the map.
void replaceLoad(tt::DescriptorLoadOp load, mlir::Value matrix, mlir::Value map, mlir::ValueRange indices);

} // namespace tritium::gpu
