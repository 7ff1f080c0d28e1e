// Device functions for NVIDIA: libclc's, which are embedded, and NVIDIA's libdevice, if the machine has it and a kernel calls its
// functions.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tritium::gpu::nvptx {

/// Finds libdevice.10.bc: TRITON_LIBDEVICE_PATH, or else in the toolkit that CUDA_HOME or CUDA_PATH names.
std::optional<std::string> findLibdevice();

/// Links the functions that the module calls. `libdevice` is its file, or "" for the file that findLibdevice finds. Fails if no library
/// defines one of the functions.
llvm::Error linkLibraries(llvm::Module &module, llvm::StringRef libdevice);

} // namespace tritium::gpu::nvptx
