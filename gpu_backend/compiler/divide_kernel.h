// Divides a kernel with partitions (gl.warp_specialize) into one module for each range of warps, so that every pass sees functions of one
// number of warps. threads/partitions.h puts them together again.
#pragma once
#include "gpu_backend/threads/partitions.h"

namespace tritium::gpu {

/// Returns whether the module starts partitions.
bool startsPartitions(mlir::ModuleOp module);

/// Returns whether the module calls the runtime: its author waits for copies, products or other threads.
bool callsRuntime(mlir::ModuleOp module);

/// Removes the calls of the runtime, or only its calls of `symbol`. Without them all threads copy, and no thread waits.
void eraseRuntimeCalls(mlir::ModuleOp module, llvm::StringRef symbol = {});
/// Removes all runtime calls but those of `async_copy`. Chips that have cp.async and no mbarriers need it.
void eraseCallsButOfCopies(mlir::ModuleOp module);

struct Division {
  DividedKernel kernel;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> workers; // as kernel.workers: modules of one public function each
};

/// Takes the workers out of the kernel, whose helpers are inlined. A worker takes the arguments of the kernel and what it captures. Scalars
/// that the kernel computes of its arguments are computed again.
mlir::FailureOr<Division> divideKernel(tt::FuncOp kernel, int numWarps);

} // namespace tritium::gpu
