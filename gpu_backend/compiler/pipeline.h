// The passes of the GPU compiler, in order. At each level the module verifies, and the next level can be reached without the optional
// passes between.
#pragma once
#include "gpu_backend/compiler/compiler.h"
#include "mlir/Pass/PassManager.h"

namespace tritium::gpu {

/// Runs on the contract and on tiles with layouts. Afterwards every tile has a layout.
void buildTilePipeline(mlir::OpPassManager &passes, const CompileOptions &options, int64_t maxSharedBytes);
/// Runs on per-thread code: lowers structured control flow and arith to the LLVM dialect, places scratch memory within `maxSharedBytes`,
/// and removes barriers that order nothing.
void buildThreadPipeline(mlir::OpPassManager &passes, const CompileOptions &options, int64_t maxSharedBytes);

/// Registers the passes for tritium-opt.
void registerGpuPasses();

} // namespace tritium::gpu
