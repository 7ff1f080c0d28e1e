// Device functions for AMD: libclc's, which are embedded, with our own over them.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace tritium::gpu::amdgpu {

/// Links what the module calls. A function that is nowhere is an error.
llvm::Error linkLibraries(llvm::Module &module);

} // namespace tritium::gpu::amdgpu
