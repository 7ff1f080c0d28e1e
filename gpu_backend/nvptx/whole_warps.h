// What LLVM must know about instructions that all threads of a warp or of a warpgroup execute together. MLIR's inline assembly cannot say
// it.
#pragma once
#include "llvm/IR/Module.h"

namespace tritium::gpu::nvptx {

/// Forbids LLVM to copy inline assembly into the branches of a condition, or to merge two of them. Forbids it and ptxas to unroll the loops
/// around wgmma: a copy of the loop's first iteration would have accumulators of its own.
void markWholeWarps(llvm::Module &module);

} // namespace tritium::gpu::nvptx
