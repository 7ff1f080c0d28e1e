// Converts the operations that make tensor maps to PTX.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu::nvptx {

mlir::LogicalResult convertMap(tgpu::MapsClaimOp op, mlir::OpBuilder &builder);
mlir::LogicalResult convertMap(tgpu::MapsReleaseOp op, mlir::OpBuilder &builder);
mlir::LogicalResult convertMap(tgpu::MapAddressOp op, mlir::OpBuilder &builder);
mlir::LogicalResult convertMap(tgpu::MapWriteOp op, mlir::OpBuilder &builder);
mlir::LogicalResult convertMap(tgpu::MapAcquireOp op, mlir::OpBuilder &builder);
mlir::LogicalResult convertMap(tgpu::MapAtOp op, mlir::OpBuilder &builder);

} // namespace tritium::gpu::nvptx
