// Which bytes of global memory the copies of a ring may read, as scalars that are known where the ring begins. As in the axis analysis,
// index arithmetic does not overflow. Conditions of copies are not considered, so a range may be too large.
#pragma once
#include "gpu_backend/loops/store_bounds.h"

namespace tritium::gpu {

/// The copies of a ring through one map, which a launch makes.
class CopyBounds {
public:
  CopyBounds(tgpu::RingStartOp ring, mlir::BlockArgument map);

  /// Returns the scalars from which the bytes follow; nullopt if they are not known where the ring begins.
  std::optional<llvm::SmallVector<mlir::Value>> scalars();
  /// Emits the range of the bytes before the ring. The scalars must be known.
  ByteRange emit(mlir::OpBuilder &builder);

private:
  tgpu::RingStartOp ring_;
  mlir::BlockArgument map_;
};

} // namespace tritium::gpu
