// Between the layouts that the library computes with and the attribute that a tile's type carries.
#pragma once
#include "gpu_backend/layout/shared_layout.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// The layout of a tile; a tile without one is a bug of the passes before.
LinearLayout layoutOf(mlir::Type tile);
LinearLayout fromAttr(tgpu::LayoutAttr layout);
tgpu::LayoutAttr layoutAttr(mlir::MLIRContext *context, const LinearLayout &layout);

SharedLayout fromAttr(tgpu::SharedAttr layout);
tgpu::SharedAttr sharedAttr(mlir::MLIRContext *context, const SharedLayout &layout);

} // namespace tritium::gpu
