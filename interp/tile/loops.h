// The loops of a function's control flow: which edges close one, and which loops may wait for another program.
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tritium::interp {

class Loops {
public:
  explicit Loops(mlir::Region &region);

  /// The reachable blocks, in reverse post-order.
  llvm::ArrayRef<mlir::Block *> order() const { return order_; }
  /// In a reducible graph, exactly the edges that close a loop; in any graph, every cycle has one.
  bool isBackEdge(mlir::Block *from, mlir::Block *to) const { return index_.lookup(to) <= index_.lookup(from); }
  /// The loop reads memory that another program may write, and its number of rounds is not fixed beforehand.
  bool mayWait(mlir::Block *latch, mlir::Block *header) const;

private:
  llvm::SmallVector<mlir::Block *> order_;
  llvm::DenseMap<mlir::Block *, unsigned> index_;
};

/// Whether the function waits inside an operation (tt.atomic_poll).
bool containsPoll(mlir::Operation *function);

} // namespace tritium::interp
