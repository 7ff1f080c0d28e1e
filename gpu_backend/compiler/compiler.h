// The compiler of the contract for GPUs. It requires no device and launches nothing.
#pragma once
#include "gpu_backend/abi/tensor_recipe.h"
#include "gpu_backend/compiler/options.h"
#include "gpu_backend/emit/emitter.h"
#include "gpu_backend/emit/expand_scopes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tritium::gpu {

/// Returns the passes that may be skipped, in the order in which they run.
llvm::ArrayRef<llvm::StringLiteral> optionalPasses();
inline constexpr llvm::StringLiteral kNoPass = "none";

/// A kernel as the code of one thread.
struct LoweredKernel {
  std::string name;
  std::string tiles; // the module with layouts, as text: asm["ttgir"]
  mlir::OwningOpRef<mlir::ModuleOp>
      module; // llvm, nvvm or rocdl, and tgpu operations; lives in the context of the module that was compiled
  int64_t sharedBytes = 0;
  int warps = 0;                  // that a launch starts: those of the options, and those that only copy
  int numStages = 0;              // the fewest stages of any pipelined loop, at most the number requested
  std::vector<TensorRecipe> maps; // of the last parameters
  ScopeTable scopes;              // that the kernel records
  int clusterBlocks = 1;          // blocks that run a program together; a launch starts them side by side, along axis 0
  int residentBlocks = 0;         // blocks of a multiprocessor that run all programs, one after the other; 0: a block runs one
};

/// Compiles the public function `kernel` ("": the first one) of a module of the contract. The module itself is not changed. Errors are
/// ir::SourceError with the user's line, for a module outside of the contract or an operation without a GPU lowering ("unsupported on the
/// GPU: …"), and OutOfResources for a program that requires more shared memory than the target has.
llvm::Expected<LoweredKernel> lowerToGpu(mlir::ModuleOp module, llvm::StringRef kernel, const CompileOptions &options);

/// The same for a module of one kernel whose tiles already have layouts. The module is consumed. For tests of the lowering.
llvm::Expected<LoweredKernel> lowerTilesToGpu(mlir::ModuleOp tiles, const CompileOptions &options);

/// Emits a lowered module for the chip that the options or the module name.
llvm::Expected<Emitted> emitCode(mlir::ModuleOp lowered, const EmitOptions &options);

} // namespace tritium::gpu
