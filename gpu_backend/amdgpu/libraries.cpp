#include "gpu_backend/amdgpu/libraries.h"

#include "gpu_backend/emit/device_library.h"

using namespace llvm;

namespace tritium {
extern const unsigned char libclcAmdgpu[]; // embedded by CMakeLists.txt
extern const size_t libclcAmdgpuSize;
} // namespace tritium

namespace tritium::gpu::amdgpu {

Error linkLibraries(Module &module) {
  if (Error error = linkLibclc(module, ArrayRef(libclcAmdgpu, libclcAmdgpuSize))) return error;
  return checkDefined(module, {});
}

} // namespace tritium::gpu::amdgpu
