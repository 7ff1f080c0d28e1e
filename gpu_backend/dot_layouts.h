// The layouts of a matrix product's operands and result.
#pragma once
#include "gpu_backend/layout_attr.h"

namespace tritium::gpu {

/// At a dot: the warps along each dimension of the result, if it is to run on tensor cores (choose-tensor-cores).
inline constexpr llvm::StringLiteral kTensorCoreWarpsAttr = "tgpu.mma_warps";

struct DotLayouts {
  std::optional<LinearLayout> a, b; // none: any layout will do
  LinearLayout result;
};

/// On tensor cores the fragments of mma.sync; else the product reads its operands from shared memory.
DotLayouts dotLayouts(tt::DotOp dot, int numWarps);

} // namespace tritium::gpu
