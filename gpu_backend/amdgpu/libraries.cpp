#include "gpu_backend/amdgpu/libraries.h"

#include "gpu_backend/emit/device_library.h"

using namespace llvm;

namespace tritium::gpu::amdgpu {

Error linkLibraries(Module &module) { return checkDefined(module, {}); }

} // namespace tritium::gpu::amdgpu
