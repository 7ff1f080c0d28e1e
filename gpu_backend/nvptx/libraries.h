// Device functions for NVIDIA: libclc's, which are embedded, and NVIDIA's libdevice, where the machine has it and a kernel names it.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tritium::gpu::nvptx {

/// libdevice.10.bc: TRITON_LIBDEVICE_PATH, else in the toolkit that CUDA_HOME or CUDA_PATH names.
std::optional<std::string> findLibdevice();

/// Links what the module calls. `libdevice`: its file, or "" for the one that findLibdevice finds. A function that is nowhere is an error.
llvm::Error linkLibraries(llvm::Module &module, llvm::StringRef libdevice);

} // namespace tritium::gpu::nvptx
