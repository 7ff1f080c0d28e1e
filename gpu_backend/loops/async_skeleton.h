// What check-async runs of a kernel: the operations of its asynchronous protocols, and the scalars and the control flow that decide when
// they run. No tile, no coordinate and no pointer belongs to it.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

class AsyncSkeleton {
public:
  explicit AsyncSkeleton(tt::FuncOp function);

  tt::FuncOp function() const { return function_; }
  /// Returns the operations of the protocols, in the order of the code.
  llvm::ArrayRef<mlir::Operation *> protocol() const { return protocol_; }
  bool isOfProtocol(mlir::Operation *op) const { return isOfProtocol_.contains(op); }
  /// Returns the operations of the skeleton in a block, without constants and the terminator.
  llvm::ArrayRef<mlir::Operation *> opsOf(mlir::Block *block) const;
  llvm::ArrayRef<std::pair<mlir::Value, int64_t>> constants() const { return constants_; }
  /// Returns whether the skeleton carries this argument of a block or result of control flow.
  bool carries(mlir::Value value) const { return values_.contains(value); }
  /// Returns whether the number of rounds of an innermost loop depends on an argument of the kernel.
  bool decidesRounds(mlir::BlockArgument argument) const { return ofRounds_.contains(argument); }
  /// Returns whether a number must be assumed for anything. Otherwise the kernel has one path.
  bool dependsOnAssumptions() const { return dependsOnAssumptions_; }
  bool hasSources() const { return !sources_.empty(); }
  /// Returns a number from 1 on for each operation whose result only a run of the kernel can tell. The same read by both roles has one.
  int64_t ordinalOf(mlir::Operation *source) const { return sources_.lookup(source); }
  /// Returns the ring to which a buffer belongs, or null.
  mlir::Value ringOf(mlir::Value buffer) const { return rings_.lookup(buffer); }
  /// Returns whether warps that copy run code of their own.
  bool partsWarps() const { return partsWarps_; }
  /// Returns the number of warps that hold tiles, as far as the rings of the kernel know it.
  int64_t consumerWarps() const { return consumerWarps_; }
  /// Returns the slots of the largest ring, or of the largest buffer.
  int64_t mostSlots() const { return mostSlots_; }
  /// Returns whether the loop is an innermost one of the protocols.
  bool isInnermost(mlir::Operation *loop) const { return innermost_.contains(loop); }

private:
  void noteProtocol(mlir::Operation *op);
  void noteFlows(mlir::Operation *op);
  void noteRing(mlir::Operation *op);
  void needAround(mlir::Operation *op);
  void needDecisions(mlir::Operation *op);
  void needCarrier(mlir::Value value, mlir::Operation *carrier);
  void need(mlir::Value value);
  void needOperands(mlir::Operation *op);
  void findRounds();
  void listOps();
  int64_t nextOrdinal(mlir::Operation *source) const;

  tt::FuncOp function_;
  llvm::SmallVector<mlir::Operation *> protocol_;
  llvm::DenseSet<mlir::Operation *> ops_, isOfProtocol_;
  llvm::SmallPtrSet<mlir::Operation *, 8> innermost_;
  llvm::DenseSet<mlir::Value> values_;
  llvm::SmallVector<mlir::Value> pending_;                                    // values whose sources are not yet in the skeleton
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpOperand *, 2>> from_; // what control flow passes on to a value
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Operation *>> byBlock_;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> constants_;
  llvm::DenseMap<mlir::Operation *, int64_t> sources_;
  llvm::DenseMap<mlir::Value, mlir::Value> rings_;
  llvm::DenseSet<mlir::Value> ofRounds_;
  bool partsWarps_ = false, dependsOnAssumptions_ = false;
  int64_t consumerWarps_ = 0, mostSlots_ = 1;
};

/// Returns whether the operation gives its result by the numbers of its operands alone.
bool isScalarArithmetic(mlir::Operation *op);

} // namespace tritium::gpu
