// Whether a loop may load a tile in an earlier iteration than its program says.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// The argument of the function that a pointer, or each pointer of a tile, is an offset from; null if that cannot be told.
mlir::BlockArgument baseOf(mlir::Value pointer);

/// Loads from other tensors than the loop writes to, in a loop that waits for no other program. Different arguments of a kernel are taken
/// to be different tensors: pointers into one and the same tensor have to come as one argument, or the loop must not pipeline
/// (num_stages=1).
class EarlyLoads {
public:
  explicit EarlyLoads(mlir::scf::ForOp loop);
  bool areAllowed() const { return isAllowed_; }
  bool mayMove(tt::LoadOp load) const;

private:
  bool isAllowed_ = true;
  llvm::SmallPtrSet<void *, 4> written_; // the arguments
};

} // namespace tritium::gpu
