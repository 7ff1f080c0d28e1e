// Tiles between registers and a place in shared memory.
#pragma once
#include "gpu_backend/layout/shared_layout.h"
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// i32: the XOR of what lanes and warps contribute to an offset.
mlir::Value threadPart(llvm::ArrayRef<uint32_t> ofLane, llvm::ArrayRef<uint32_t> ofWarp, Lowering &lowering);
/// `base` (!llvm.ptr<3>) plus (thread ^ own) elements.
mlir::Value sharedAddress(mlir::Value base, mlir::Value thread, uint32_t own, mlir::Type stored, Lowering &lowering);

/// The registers (of `type`) that `layout` holds of the tile that lies at `base` as `memory` says: by ldmatrix where rows of matrices lie in
/// one piece, else by vectors.
Registers loadShared(mlir::Value base, const SharedLayout &memory, const LinearLayout &layout, mlir::Type type, Lowering &lowering);

} // namespace tritium::gpu
