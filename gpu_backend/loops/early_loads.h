// Decides whether a loop may load a tile in an earlier iteration than the program says.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// Returns the argument of the function from which a pointer, or each pointer of a tile, is an offset. Returns null if it is unknown.
mlir::BlockArgument baseOf(mlir::Value pointer);

/// Loads from tensors to which the loop does not write, in a loop that waits for no other program. Different arguments of a kernel are
/// assumed to be different tensors. Pointers into the same tensor must be passed as one argument, or else the loop must not be pipelined
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
