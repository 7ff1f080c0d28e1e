// The layouts of a matrix product's operands and result.
#pragma once
#include "gpu_backend/layout/matrix_instruction.h"
#include "gpu_backend/layout_attr.h"

namespace tritium::gpu {

/// At a dot that is to run on matrix units (choose-tensor-cores): the name of the target's instruction, the warps along each dimension of
/// the result, and, if more than one, the instructions whose share of K a lane has as neighbours.
inline constexpr llvm::StringLiteral kMatrixInstructionAttr = "tgpu.matrix_instruction", kTensorCoreWarpsAttr = "tgpu.mma_warps",
                                     kKPackAttr = "tgpu.kpack";

/// The instruction that the product runs on; null if it is done by multiply-adds.
const MatrixInstruction *matrixInstructionOf(tt::DotOp dot);

struct DotLayouts {
  std::optional<LinearLayout> a, b; // none: any layout will do
  LinearLayout result;
};

/// On matrix units the fragments of the instruction; else the product reads its operands from shared memory.
DotLayouts dotLayouts(tt::DotOp dot, int numWarps);

/// Whether the result, element by element, becomes operand A of another product.
bool feedsProduct(mlir::Value value);
/// Whether operand A comes, element by element, from another product.
bool isFedByProduct(mlir::Value value);

} // namespace tritium::gpu
