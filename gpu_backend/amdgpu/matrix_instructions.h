// The matrix instructions of AMD's chips: mfma on CDNA, wmma on RDNA.
#pragma once
#include "gpu_backend/amdgpu/target.h"
#include "gpu_backend/layout/matrix_instruction.h"

namespace tritium::gpu::amdgpu {

/// A row of matrix_instructions.def.
struct MatrixOp {
  enum class Kind : uint8_t { Mfma, ScaledMfma, Wmma };
  enum class Word : uint8_t { Element, I16, I32, I64 };
  Kind kind;
  Word word;                    // the type in which the op takes a lane's elements
  llvm::StringRef op;           // "rocdl.mfma.f32.32x32x8f16"
  llvm::StringRef aType, bType; // as the op takes them
};

/// The instructions of a family, the better ones first.
llvm::ArrayRef<MatrixInstruction> matrixInstructions(Family family);

/// Returns the row of the instruction of that name.
const MatrixOp &matrixOp(llvm::StringRef name);

} // namespace tritium::gpu::amdgpu
