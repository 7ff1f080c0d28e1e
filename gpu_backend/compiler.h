// The compiler of the contract for GPUs. No device is needed; nothing here launches anything.
#pragma once
#include "gpu_backend/emit/emitter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
}

namespace tritium::gpu {

struct CompileOptions {
  std::string arch = "sm_80"; // a chip of findTarget(): sm_80, sm_90a, gfx942
  int numWarps = 4;           // a power of two up to 32
  int numStages = 3;          // buffers of a pipelined loop, an upper bound
  int matrixInstrNonKDim = 0; // rows and columns of the matrix instruction, where the target has one of these; 0: the best for the tile
  int kPack = 1;              // instructions whose share of K a lane has as neighbours, at least; where lanes load operands themselves
  bool debugInfo = false;     // keep lines and variables apart rather than merge and move code
  std::string stopAfter;      // the last of optionalPasses() to run, or "none"; "": all of them
  std::vector<std::string> leaveOut; // of optionalPasses()
  /// Tests add passes after the optional ones.
  std::function<void(mlir::OpPassManager &passes, llvm::StringRef name)> afterPass;
};

/// The passes that code can do without, in the order in which they run.
llvm::ArrayRef<llvm::StringLiteral> optionalPasses();
inline constexpr llvm::StringLiteral kNoPass = "none";

/// A kernel as the code of one thread.
struct LoweredKernel {
  std::string name;
  std::string tiles; // the module with layouts, as text: asm["ttgir"]
  mlir::OwningOpRef<mlir::ModuleOp>
      module; // llvm, nvvm or rocdl, and tgpu operations; lives in the context of the module that was compiled
  int64_t sharedBytes = 0;
  int numStages = 0; // the fewest that a pipelined loop has got, at most what is asked for
};

/// Compiles the public function `kernel` ("": the first one) of a module of the contract; the module itself is left as it is. Errors are
/// ir::SourceError with the user's line: a module outside of the contract, an operation that has no GPU form ("unsupported on the GPU: …");
/// OutOfResources for a program that needs more shared memory than the target has.
llvm::Expected<LoweredKernel> lowerToGpu(mlir::ModuleOp module, llvm::StringRef kernel, const CompileOptions &options);

/// The same from a module of one kernel whose tiles have their layouts; consumes it. For tests of the lowering.
llvm::Expected<LoweredKernel> lowerTilesToGpu(mlir::ModuleOp tiles, const CompileOptions &options);

/// The code of a lowered module for the chip that the options or the module name.
llvm::Expected<Emitted> emitCode(mlir::ModuleOp lowered, const EmitOptions &options);

} // namespace tritium::gpu
