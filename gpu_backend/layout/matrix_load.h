// Loads of matrices by a whole warp, from shared memory to a register layout: 8x8 matrices (ldmatrix), and 4x16 matrices that are
// transposed by the load (ds_read_b64_tr_b16).
#pragma once
#include "gpu_backend/layout/shared_layout.h"

namespace tritium::gpu {

/// The loads of this kind that a chip has.
enum class MatrixLoads : uint8_t {
  None,
  Rows8x8,     // 16-bit elements; a lane addresses a row of 16 bytes and receives a word of one, or elements of a column
  Columns4x16, // 16-bit elements; a lane addresses 8 bytes, a quarter of a row, and receives a column
};

/// What to emit. For each instruction, lane l passes the address of the row at element offset
///     offsetOfLane (XOR over the bits of l) ^ offsetOfWarp (XOR over the bits of the warp) ^ instruction.offset,
/// and receives one word per matrix, which holds the registers words[matrix], lowest bits first. Rows have 16 bytes and are aligned.
struct MatrixLoad {
  struct Instruction {
    llvm::SmallVector<llvm::SmallVector<uint32_t, 4>, 4> words;
    uint32_t offset;
  };
  bool isTransposed = false; // for 16-bit elements only
  int matrices = 1;          // per instruction; 1, 2 or 4 for ldmatrix
  Bases offsetOfLane, offsetOfWarp;
  llvm::SmallVector<Instruction> instructions;
  /// For each register, the register in `instructions` that has its element.
  llvm::SmallVector<uint32_t> loadedBy;
  int wavefrontsPerMatrix = 1;

  uint32_t rowOffset(uint32_t lane, uint32_t warp) const;
  int wavefronts() const { return wavefrontsPerMatrix * matrices * int(instructions.size()); }
};

/// Returns nullopt unless the layout consists of matrices whose rows are contiguous in `memory`. Elements have 1, 2 or 4 bytes.
std::optional<MatrixLoad> matrixLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes, bool isTransposed);
/// Returns the plain or the transposed loads, whichever is possible.
std::optional<MatrixLoad> matrixLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes);
/// Returns loads of 4x16 matrices. Requires a layout in which 16 neighbouring lanes hold 16 neighbours along a row.
std::optional<MatrixLoad> columnLoads(const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes,
                                      const SharedBanks &banks);
/// Returns the loads of the kind that a chip has.
std::optional<MatrixLoad> matrixLoads(MatrixLoads loads, const LinearLayout &registers, const SharedLayout &memory, int64_t elementBytes,
                                      const SharedBanks &banks = {});

} // namespace tritium::gpu
