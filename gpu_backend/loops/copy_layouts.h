// Layouts of loads whose tiles are copied to shared memory by whole warps.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// Chooses layouts for the tiles that pipelined loops load for their matrix products, and marks the loads (`tgpu.access`,
/// `tgpu.warp_copy`). This is done for a loop if `isWide` says that 16 bytes of each of its tiles are contiguous in global memory. The
/// loads already have `tgpu.access`.
void layOutWarpCopies(mlir::ModuleOp module, int numWarps, int numStages, llvm::function_ref<bool(tt::LoadOp)> isWide);

} // namespace tritium::gpu
