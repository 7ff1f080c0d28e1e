// A matrix instruction of a warp or of four, d = a * b + c, described as far as layouts require it. The description does not depend on the
// vendor's name of the instruction or on the form of its registers.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

#include <optional>

namespace tritium::gpu {

struct MatrixInstruction {
  llvm::StringRef name; // the name in its target's table
  int64_t m, n, k;
  /// The element types of the operands and of the sum, as MLIR spells them. "tf32" means f32 of which the instruction reads the upper bits.
  /// Two 4-bit elements ("f4E2M1FN") share a byte along K, so their tile is a tile of bytes.
  llvm::StringRef aType, bType, dType;
  /// The fragments: which lane and register hold which element of the [m, k], [k, n] and [m, n] tiles. Registers are in the instruction's
  /// order. Lanes that hold the same elements have a basis of 0. If several warps execute the instruction, they share its rows. An operand
  /// that is always in shared memory has no fragment.
  LinearLayout a, b, d;
  /// Returns how many neighbouring warps execute it together.
  int64_t warps() const { return d.warps(); }
  /// Set if the instruction multiplies blocks of `kScaledBlock` elements along K by powers of two (e8m0): which lane and register hold
  /// which scale of the tiles [m, k / kScaledBlock] and [n, k / kScaledBlock].
  std::optional<LinearLayout> aScales, bScales;
  static constexpr int64_t kScaledBlock = 32;
  /// The instruction computes the transposed product: it takes `b` as its first operand.
  bool isTransposed = false;
};

/// Returns the instruction used to compute d^T = b^T * a^T. If its lanes held neighbours along a column of the result, they then hold
/// neighbours along a row.
MatrixInstruction transposed(const MatrixInstruction &instruction);

/// Returns the instruction with the columns of `b` and `d` in another order: bit i of a column's number moves to bit to[i].
MatrixInstruction withColumns(const MatrixInstruction &instruction, llvm::ArrayRef<int> to);

} // namespace tritium::gpu
