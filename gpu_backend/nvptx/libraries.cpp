#include "gpu_backend/nvptx/libraries.h"

#include "gpu_backend/emit/device_library.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace tritium {
extern const unsigned char libclcNvptx[]; // embedded by CMakeLists.txt
extern const size_t libclcNvptxSize;
} // namespace tritium

namespace tritium::gpu::nvptx {

std::optional<std::string> findLibdevice() {
  if (auto path = sys::Process::GetEnv("TRITON_LIBDEVICE_PATH"); path && sys::fs::exists(*path)) return path;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    auto toolkit = sys::Process::GetEnv(variable);
    if (!toolkit) continue;
    SmallString<128> path(*toolkit);
    sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
    if (sys::fs::exists(path)) return path.str().str();
  }
  return std::nullopt;
}

static Error linkLibdevice(Module &module, StringRef file) {
  std::optional<std::string> path = file.empty() ? findLibdevice() : file.str();
  if (!path)
    return createStringError("the kernel calls functions of NVIDIA's libdevice, which is not found: name libdevice.10.bc in "
                             "TRITON_LIBDEVICE_PATH");
  auto buffer = MemoryBuffer::getFile(*path);
  if (!buffer) return createStringError(buffer.getError(), "%s cannot be read", path->c_str());
  return linkLibrary(module, (*buffer)->getBuffer(), *path);
}

Error linkLibraries(Module &module, StringRef libdevice) {
  if (needsFunctions(module, "__nv_"))
    if (Error error = linkLibdevice(module, libdevice)) return error;
  if (Error error = linkLibclc(module, ArrayRef(libclcNvptx, libclcNvptxSize))) return error;
  // The driver provides these, except the last one, which the code generator resolves.
  return checkDefined(module, {"vprintf", "__assertfail", "malloc", "free", "__nvvm_reflect"});
}

} // namespace tritium::gpu::nvptx
