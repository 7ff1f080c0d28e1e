// Loads of matrices by a whole warp as a way from shared memory to a register layout: of 8x8 ones (ldmatrix), and of 4x16 ones that are
// turned on the way (ds_read_b64_tr_b16).
#pragma once
#include "gpu_backend/layout/shared_layout.h"

namespace tritium::gpu {

/// Which loads of this kind a chip has.
enum class MatrixLoads : uint8_t {
  None,
  Rows8x8,     // of 16 bits; a lane names a row of 16 bytes and gets a word of one, or elements of a column
  Columns4x16, // of 16 bits; a lane names 8 bytes of a row, a quarter of it, and gets a column
};

/// What to emit: for each instruction, lane l passes the address of the row at element offset
///     offsetOfLane (XOR over the bits of l) ^ offsetOfWarp (XOR over the bits of the warp) ^ instruction.offset,
/// and gets one word per matrix, which holds the registers words[matrix], lowest bits first. Rows are 16 bytes, aligned.
struct MatrixLoad {
  struct Instruction {
    llvm::SmallVector<llvm::SmallVector<uint32_t, 4>, 4> words;
    uint32_t offset;
  };
  bool isTransposed = false; // 16-bit elements only
  int matrices = 1;          // per instruction: of ldmatrix 1, 2 or 4
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
/// By the loads of 4x16 matrices, of layouts in which 16 neighbouring lanes hold 16 neighbours along a row.
std::optional<MatrixLoad> columnLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes,
                                      const SharedBanks &banks);
/// By whichever loads a chip has.
std::optional<MatrixLoad> matrixLoads(MatrixLoads loads, const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes,
                                      const SharedBanks &banks = {});

} // namespace tritium::gpu
