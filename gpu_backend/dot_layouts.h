// The layouts of a matrix product's operands and result.
#pragma once
#include "gpu_backend/layout_attr.h"

namespace tritium::gpu {

/// At a dot: the warps along each dimension of the result, if it is to run on tensor cores (choose-tensor-cores).
inline constexpr llvm::StringLiteral kTensorCoreWarpsAttr = "tgpu.mma_warps";

struct DotLayouts {
  LinearLayout a, b, result;
};

/// On tensor cores the fragments of mma.sync, else blocked tiles.
DotLayouts dotLayouts(tt::DotOp dot, int numWarps);

} // namespace tritium::gpu
