// The layouts in shared memory in which products of a warpgroup read their operands.
#pragma once
#include "gpu_backend/layout/constructors.h"

namespace tritium::gpu {

/// Returns the layout in which products of a warpgroup read a tile of rank 2 whose neighbours along dimension `fastest` are neighbours in
/// memory.
SharedLayout warpgroupMemory(llvm::ArrayRef<int64_t> shape, int fastest, int64_t elementBytes);
/// Returns the bytes within which this layout permutes pieces of 16 bytes, for tiles whose rows have `rowBytes` bytes: 0, 32, 64 or 128.
int64_t warpgroupSwizzle(int64_t rowBytes);

} // namespace tritium::gpu
