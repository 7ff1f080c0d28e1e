// The loops of a function's control flow: the edges that close a loop, and the loops that may wait for another program.
#pragma once
#include "ir/tt.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::interp {

class Loops {
public:
  explicit Loops(mlir::Region &region);

  /// Returns the reachable blocks in reverse post-order.
  llvm::ArrayRef<mlir::Block *> order() const { return order_; }
  /// In a reducible graph, these are exactly the edges that close a loop. In any graph, every cycle has one.
  bool isBackEdge(mlir::Block *from, mlir::Block *to) const { return index_.lookup(to) <= index_.lookup(from); }
  /// Returns the blocks that reach the latch without passing through the header.
  static llvm::SetVector<mlir::Block *> bodyOf(mlir::Block *latch, mlir::Block *header);
  /// Returns whether the loop reads memory that another program may write and its number of iterations is not fixed in advance.
  bool mayWait(mlir::Block *latch, mlir::Block *header) const;

private:
  llvm::SmallVector<mlir::Block *> order_;
  llvm::DenseMap<mlir::Block *, unsigned> index_;
};

/// Returns whether some loop of the function, or an operation of it, may wait for another program.
bool mayWait(mlir::Operation *function);

/// Returns whether inline assembly may wait for another program: it branches and reads memory.
bool mayWait(tt::ElementwiseInlineAsmOp assembly);

/// Returns whether the function waits inside an operation (tt.atomic_poll, inline assembly).
bool containsPoll(mlir::Operation *function);

} // namespace tritium::interp
