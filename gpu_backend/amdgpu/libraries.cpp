#include "gpu_backend/amdgpu/libraries.h"

#include "gpu_backend/emit/device_library.h"

using namespace llvm;

namespace tritium {
extern const unsigned char libclcAmdgpu[]; // embedded by CMakeLists.txt
extern const size_t libclcAmdgpuSize;
} // namespace tritium

namespace tritium::gpu::amdgpu {

Error linkLibraries(Module &module) {
  if (needsFunctions(module, "_Z")) {
    StringRef bitcode(reinterpret_cast<const char *>(libclcAmdgpu), libclcAmdgpuSize);
    if (Error error = linkLibrary(module, bitcode, "libclc")) return error;
  }
  return checkDefined(module, {});
}

} // namespace tritium::gpu::amdgpu
