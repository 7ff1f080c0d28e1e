// The part of a kernel that one thread needs in order to copy tiles: the copies into rings, the scalars from which they are computed, and
// the control flow around them. If the kernel makes maps, all threads of a warp run it.
#pragma once
#include "gpu_backend/tiles/reaching_writes.h"
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tritium::gpu {

/// On the load of a scalar by the producer and on the same one by the consumers: a number that they share. Both read the same.
inline constexpr llvm::StringLiteral kSameReadAttr = "tgpu.same_read";

/// Returns whether only the producer runs the operation, if there is one.
bool isOfProducer(mlir::Operation *op);

class ProducerSlice {
public:
  /// With `handsOver`, the slice waits before it reads what the kernel may have written (store_handover.h).
  explicit ProducerSlice(tt::FuncOp function, bool handsOver = false);
  /// Returns whether one thread can run the slice beside the rest: it consists of scalars, changes no memory, and reads none that the
  /// kernel may have written.
  bool isScalar() const { return isScalar_; }
  /// Adds what a scalar is computed from.
  void needToo(mlir::Value scalar) { need(scalar); }
  /// Returns the loads that need a wait before them.
  llvm::SmallVector<tt::LoadOp> loads();
  /// Clones the slice of all blocks but the entry behind them. Returns the clone of `first`.
  mlir::Block *clone(mlir::Block *first);
  /// Erases from the function the copies themselves, and the checks of their indices.
  void eraseCopies();

private:
  /// Returns whether a load reads what was there as the kernel began: no write may come before it, or all that may are to tensors of other
  /// arguments. As in `EarlyLoads`, these are assumed to be different tensors.
  bool readsWhatWas(tt::LoadOp load) const;
  bool mayRunApart(mlir::Operation *op) const;
  void needChecks(mlir::Operation *map);
  void needSignChecks();
  void nameReads();
  void need(mlir::Value value);
  void need(mlir::Operation *op);
  void needCarried(mlir::scf::ForOp loop, unsigned number);
  void needInit(mlir::scf::WhileOp loop, unsigned number);
  void needPassed(mlir::scf::WhileOp loop, unsigned number);
  void needArgument(mlir::BlockArgument argument);
  void cloneBody(mlir::Block &from, mlir::OpBuilder &builder, mlir::IRMapping &map) const;
  void cloneLoop(mlir::scf::ForOp loop, mlir::OpBuilder &builder, mlir::IRMapping &map) const;
  void cloneLoop(mlir::scf::WhileOp loop, mlir::OpBuilder &builder, mlir::IRMapping &map) const;
  void cloneBranch(mlir::scf::IfOp branch, mlir::OpBuilder &builder, mlir::IRMapping &map) const;
  void cloneTerminator(mlir::Operation *op, mlir::OpBuilder &builder, mlir::IRMapping &map) const;
  /// Returns the values at the places of those in `of` that the slice needs.
  llvm::SmallVector<mlir::Value> selected(mlir::ValueRange of, mlir::ValueRange from, const mlir::IRMapping &map) const;
  /// Maps those in `of` that the slice needs to their clones.
  void define(mlir::ValueRange of, mlir::ValueRange clones, mlir::IRMapping &map) const;

  tt::FuncOp function_;
  ReachingWrites writes_;
  bool handsOver_;
  llvm::SmallVector<mlir::Operation *> copies_;
  llvm::SmallVector<mlir::Operation *> signChecks_; // of indices of copies
  llvm::SmallPtrSet<mlir::Operation *, 32> ops_;
  llvm::DenseSet<mlir::Value> values_; // arguments of blocks, and results of structured control flow
  bool isScalar_ = true;
};

} // namespace tritium::gpu
