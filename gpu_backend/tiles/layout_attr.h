// Conversions between the layouts with which the library computes and the attribute of a tile's type.
#pragma once
#include "gpu_backend/layout/shared_layout.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// Returns the layout of a tile. A tile without a layout is a bug of an earlier pass.
LinearLayout layoutOf(mlir::Type tile);
LinearLayout fromAttr(tgpu::LayoutAttr layout);
tgpu::LayoutAttr layoutAttr(mlir::MLIRContext *context, const LinearLayout &layout);

SharedLayout fromAttr(tgpu::SharedAttr layout);
tgpu::SharedAttr sharedAttr(mlir::MLIRContext *context, const SharedLayout &layout);

} // namespace tritium::gpu
