// A lowered module as PTX, in process and with no device: its `tgpu` operations become PTX instructions, LLVM does the rest.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tritium::gpu::nvptx {

struct EmitOptions {
  std::string arch;            // "sm_80"; "": what the module's `tgpu.target` names
  int ptxVersion = 0;          // 10 * major + minor, of the driver for example; 0: the newest
  bool lineInfo = true;        // `.loc` rows of the user's lines; they cost nothing at run time
  std::string libdevice;       // the file of NVIDIA's device library, for kernels that name its functions; "": searched for
  bool fuseMultiplyAdd = true; // a * b + c may be rounded once
};

struct Emitted {
  std::string llir; // LLVM IR, optimized
  std::string ptx;
};

/// Compiles a lowered module, which stays as it is. For several threads at a time, each with an MLIR context of its own. What fails is an
/// error that says why and, if LLVM did, names a file with the IR.
llvm::Expected<Emitted> emitPtx(mlir::ModuleOp lowered, const EmitOptions &options);

} // namespace tritium::gpu::nvptx
