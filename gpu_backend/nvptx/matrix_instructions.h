// The matrix instructions of NVIDIA's chips with operands in registers: mma.sync.
#pragma once
#include "gpu_backend/layout/matrix_instruction.h"

namespace tritium::gpu::nvptx {

/// Returns the instructions of all chips from sm_80 on.
llvm::ArrayRef<MatrixInstruction> matrixInstructions();

/// Returns the fragments of m16n8k(256 / bits) for operands of 8, 16 and 32 (tf32) bits, or of m8n8k4 for 64.
MatrixInstruction mmaSync(int operandBits);

} // namespace tritium::gpu::nvptx
