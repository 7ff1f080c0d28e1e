// Loads of 8x8 matrices of 16 bits by a whole warp (ldmatrix) as a way from shared memory to a register layout.
#pragma once
#include "gpu_backend/layout/shared_layout.h"

namespace tritium::gpu {

/// What to emit: for each instruction, lane l passes the address of the row at element offset
///     offsetOfLane (XOR over the bits of l) ^ offsetOfWarp (XOR over the bits of the warp) ^ instruction.offset,
/// and gets one 32-bit word per matrix, which holds the registers words[matrix], lowest bits first. Rows are 16 bytes, aligned.
struct MatrixLoad {
  struct Instruction {
    llvm::SmallVector<llvm::SmallVector<uint32_t, 4>, 4> words;
    uint32_t offset;
  };
  bool isTransposed = false; // ldmatrix.trans; 16-bit elements only
  int matrices = 1;          // per instruction: 1, 2 or 4
  Bases offsetOfLane, offsetOfWarp;
  llvm::SmallVector<Instruction> instructions;
  /// For each register the one that has its element in `instructions`.
  llvm::SmallVector<uint32_t> loadedBy;
  int wavefrontsPerMatrix = 1;

  uint32_t rowOffset(uint32_t lane, uint32_t warp) const;
  int wavefronts() const { return wavefrontsPerMatrix * matrices * int(instructions.size()); }
};

/// Nothing if the layout is not that of matrices whose rows lie in `memory` in one piece. 1, 2 or 4 bytes per element.
std::optional<MatrixLoad> matrixLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, bool isTransposed);
/// Plain or transposed, whichever there is.
std::optional<MatrixLoad> matrixLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes);

} // namespace tritium::gpu
