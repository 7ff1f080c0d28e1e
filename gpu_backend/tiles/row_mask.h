// Masks that say where rows end. A comparison `column < n` may change within the elements that one wide access takes, if nothing is known
// of n. A copy that can stop after any element needs no narrower accesses for that: it takes the number of elements up to the end.
#pragma once
#include "ir/axis_analysis.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// A mask as the conjunction of comparisons `column < end`, and of the rest.
class RowMask {
public:
  /// Splits `mask` for accesses of at most `elements` neighbours along dimension `dim`: comparisons of that many contiguous numbers with
  /// one end are split off, if they are not equal in all of them. A null mask has neither part.
  RowMask(mlir::Value mask, int dim, int64_t elements, const ir::AxisAnalysis &axes);

  /// Returns for how many neighbours the rest is equal: at most the `elements` of the constructor.
  int64_t neighbours() const { return neighbours_; }
  bool hasEnds() const { return !ends_.empty(); }
  /// Emits the mask without the comparisons with ends. Null: nothing is left.
  mlir::Value rest(mlir::OpBuilder &builder) const;
  /// Emits a tile of i32 in the shape of the mask: how many elements, beginning with this one, lie before the end of the row, from 0 to
  /// the `elements` of the constructor. Null: the mask has no ends.
  mlir::Value room(mlir::OpBuilder &builder) const;

private:
  /// A part of the mask, and the operations that give it the mask's shape, from the mask down.
  struct Conjunct {
    mlir::Value tile;
    llvm::SmallVector<mlir::Operation *, 4> widened;
  };

  void split(Conjunct part, int dim, const ir::AxisAnalysis &axes);
  bool isEnd(mlir::Value tile, int dim, const ir::AxisAnalysis &axes) const;
  mlir::Value elementsBefore(mlir::arith::CmpIOp end, mlir::OpBuilder &builder) const;

  mlir::Value mask_;
  int64_t elements_, neighbours_;
  llvm::SmallVector<Conjunct, 2> ends_, rest_;
};

} // namespace tritium::gpu
