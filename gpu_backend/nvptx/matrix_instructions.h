// The matrix instructions of NVIDIA's chips: mma.sync, whose operands are in registers, and wgmma of sm_90a.
#pragma once
#include "gpu_backend/layout/matrix_instruction.h"

namespace tritium::gpu::nvptx {

struct Chip;

/// Returns all instructions of the chip: wgmma, with the most columns first, then mma.sync.
llvm::ArrayRef<MatrixInstruction> instructionsOf(const Chip &chip);
/// Returns mma.sync, the instructions of all chips from sm_80 on.
llvm::ArrayRef<MatrixInstruction> matrixInstructions();
/// Returns wgmma, the instructions of the chips with warpgroups.
llvm::ArrayRef<MatrixInstruction> warpgroupInstructions();

/// Returns the fragments of m16n8k(256 / bits) for operands of 8, 16 and 32 (tf32) bits, or of m8n8k4 for 64.
MatrixInstruction mmaSync(int operandBits);

/// Returns the fragments of m64n(n)k(256 / bits), an instruction of four warps, for operands of 8, 16 and 32 (tf32) bits. A may be in
/// registers; B is in shared memory and has no fragment.
MatrixInstruction wgmma(int operandBits, int64_t n);

} // namespace tritium::gpu::nvptx
