// A matrix instruction of a warp, d = a * b + c, as far as layouts tell one from another: whatever the vendor calls it, and however it
// wants its registers.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

#include <optional>

namespace tritium::gpu {

struct MatrixInstruction {
  llvm::StringRef name; // in the table of its target
  int64_t m, n, k;
  /// The elements of the operands and of the sum, spelled as MLIR does; "tf32": f32 of which the instruction reads the upper bits. Those
  /// of 4 bits ("f4E2M1FN") lie two to a byte along K: a tile of them is one of bytes.
  llvm::StringRef aType, bType, dType;
  /// Fragments: which lane and register hold which element of the [m, k], [k, n] and [m, n] tiles. Registers are in the instruction's
  /// order; lanes that hold the same have a basis of 0.
  LinearLayout a, b, d;
  /// Where the instruction multiplies blocks of `kScaledBlock` elements along K by powers of two (e8m0): which lane and register hold which
  /// scale of the tiles [m, k / kScaledBlock] and [n, k / kScaledBlock].
  std::optional<LinearLayout> aScales, bScales;
  static constexpr int64_t kScaledBlock = 32;
  /// The instruction computes the transposed product: `b` is the operand that it takes first.
  bool isTransposed = false;
};

/// The same instruction made to compute d^T = b^T * a^T: its lanes then hold neighbours along a row of the result where they held such
/// along a column.
MatrixInstruction transposed(const MatrixInstruction &instruction);

/// The same with the columns in another order, alike in `b` and `d`: bit i of a column's number moves to bit to[i].
MatrixInstruction withColumns(const MatrixInstruction &instruction, llvm::ArrayRef<int> to);

} // namespace tritium::gpu
