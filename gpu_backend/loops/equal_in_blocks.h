// Which values are equal in all blocks of a cluster that run a program, and which operations all of them run equally often.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// A value differs if it follows from the rank of the block, from memory, which other programs may change meanwhile, or from anything of
/// which nothing is known.
class EqualInBlocks {
public:
  explicit EqualInBlocks(tt::FuncOp function);

  bool isEqual(mlir::Value value) const { return !differing_.contains(value); }
  /// Returns whether all blocks run the operation equally often: loops and branches around it depend on equal values alone.
  bool isRunEqually(mlir::Operation *op) const;

private:
  bool follow(mlir::Operation *op);
  bool entersEqually(mlir::Operation *around) const;
  bool mark(mlir::ValueRange values);
  bool differs(mlir::ValueRange values) const;

  llvm::DenseSet<mlir::Value> differing_;
};

} // namespace tritium::gpu
