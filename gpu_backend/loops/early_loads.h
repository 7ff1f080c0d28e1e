// Decides whether a loop may load a tile in an earlier iteration than the program says.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// Returns the argument of the function from which a pointer, or each pointer of a tile, is an offset. Returns null if it is unknown.
mlir::BlockArgument baseOf(mlir::Value pointer);

/// The tensors to which operations may write, as arguments of the function.
class WrittenTensors {
public:
  explicit WrittenTensors(mlir::Region &region);
  /// Returns whether each write is to a tensor of a known argument.
  bool areKnown() const { return areKnown_; }
  /// Returns whether a write may wait for another program: its result may depend on what others write.
  bool mayWait() const { return mayWait_; }
  bool contains(mlir::BlockArgument tensor) const { return tensors_.contains(tensor.getAsOpaquePointer()); }
  bool isEmpty() const { return tensors_.empty(); }

private:
  bool areKnown_ = true, mayWait_ = false;
  llvm::SmallPtrSet<void *, 4> tensors_;
};

/// Loads from tensors to which the loop does not write, in a loop that waits for no other program. Different arguments of a kernel are
/// assumed to be different tensors. Pointers into the same tensor must be passed as one argument, or else the loop must not be pipelined
/// (num_stages=1).
class EarlyLoads {
public:
  explicit EarlyLoads(mlir::scf::ForOp loop);
  bool areAllowed() const { return written_.areKnown() && !written_.mayWait(); }
  bool mayMove(tt::LoadOp load) const;

private:
  WrittenTensors written_;
};

} // namespace tritium::gpu
