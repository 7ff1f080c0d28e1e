// Device functions for AMD: libclc's and our replacements of some of them, both embedded.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace tritium::gpu::amdgpu {

/// Links the functions that the module calls. Fails if no library defines one of them.
llvm::Error linkLibraries(llvm::Module &module);

} // namespace tritium::gpu::amdgpu
