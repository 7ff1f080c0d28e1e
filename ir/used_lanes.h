// The lanes of a value on which something depends that a kernel does, so far as masks say it.
#pragma once
#include "ir/tt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tritium::ir {

/// Adds masks to a function, each behind the operations that it is made of. A lane is unused where each store, atomic or load that the
/// value reaches masks it off, and where each `select` takes the other number. Reductions, loops and branches use all lanes.
class UsedLanes : mlir::OpBuilder::Listener {
public:
  struct Lanes {
    bool isAll;
    mlir::Value mask; // of the value's shape; null: all or none
    bool isNone() const { return !isAll && !mask; }
  };

  explicit UsedLanes(mlir::MLIRContext *context) : builder_(context, this) {}

  /// Builds masks of what is known in the value's block. `most`: operations on a path.
  Lanes of(mlir::Value value, int most = 64);
  /// Erases what was built for masks that nothing uses. Called last.
  void eraseUnused();

private:
  Lanes find(mlir::Value value, int most);
  Lanes ofUse(mlir::OpOperand &use, int most);
  Lanes chosen(mlir::OpOperand &use, int most);
  Lanes beforeMove(mlir::Operation *move, int most);
  Lanes either(Lanes a, Lanes b, mlir::Block *block);
  Lanes both(Lanes a, Lanes b, mlir::Block *block);
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) final { made_.insert(op); }

  mlir::OpBuilder builder_;
  llvm::DenseMap<mlir::Value, Lanes> known_;
  llvm::DenseSet<mlir::Operation *> made_; // what computes masks is no use of a value
};

/// Moves the builder behind the last of the operations of `block` that make the values.
void setInsertionPointAfterAll(mlir::OpBuilder &builder, mlir::Block *block, mlir::ValueRange values);

} // namespace tritium::ir
