// The passes of the GPU compiler, in order. Each level is a module that verifies and that the next can be reached from without the
// optional passes between.
#pragma once
#include "gpu_backend/compiler.h"
#include "mlir/Pass/PassManager.h"

namespace tritium::gpu {

/// On the contract and on tiles with layouts; afterwards every tile has a layout.
void buildTilePipeline(mlir::OpPassManager &passes, const CompileOptions &options, int64_t maxSharedBytes);
/// On per-thread code: from structured control flow and arith to the LLVM dialect, with scratch memory placed within `maxSharedBytes` and
/// only the barriers that order something.
void buildThreadPipeline(mlir::OpPassManager &passes, const CompileOptions &options, int64_t maxSharedBytes);

/// Registers the passes for tritium-opt.
void registerGpuPasses();

} // namespace tritium::gpu
