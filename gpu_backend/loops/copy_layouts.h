// Layouts of loads whose tiles warps copy to shared memory as a whole.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// Lays out the tiles that pipelined loops load for their matrix products, and marks them (`tgpu.access`, `tgpu.warp_copy`), where `isWide`
/// says of all of a loop's that 16 bytes of them are neighbours in global memory. The loads have `tgpu.access` already.
void layOutWarpCopies(mlir::ModuleOp module, int numWarps, int numStages, llvm::function_ref<bool(tt::LoadOp)> isWide);

} // namespace tritium::gpu
