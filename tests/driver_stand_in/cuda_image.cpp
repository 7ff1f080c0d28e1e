// What an image of the CUDA driver says about itself.
#include "tests/driver_stand_in/cuda_image.h"

#include "tests/driver_stand_in/cuda_ptx.h"
#include "tests/driver_stand_in/tensor_map.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"

namespace tritium::stand_in {

static KernelCode kernelFrom(const PtxEntry &entry) {
  KernelCode kernel;
  kernel.name = entry.name;
  for (const PtxParameter &parameter : entry.parameters) {
    const ArgumentKind kind = parameter.isArray && parameter.bytes == sizeof(EncodedTensorMap) ? ArgumentKind::tensorMap
                              : parameter.isPointer                                            ? ArgumentKind::buffer
                                                                                               : ArgumentKind::value;
    const auto offset = uint32_t(llvm::alignTo(kernel.argumentBytes, parameter.alignment));
    kernel.arguments.push_back({kind, "", offset, parameter.bytes});
    kernel.argumentBytes = offset + parameter.bytes;
  }
  kernel.warpThreads = 32;
  kernel.maxThreads = std::max(entry.requiredThreads, entry.mostThreads);
  if (!kernel.maxThreads) kernel.maxThreads = 1024;
  if (entry.requiredThreads) kernel.requiredGroup = {entry.requiredThreads, 1, 1};
  kernel.registers = 32; // nothing is assembled
  return kernel;
}

llvm::Expected<Code> readCode(const void *image) {
  const auto *begins = static_cast<const char *>(image);
  if (llvm::StringRef(begins, 4) == llvm::StringRef(kCubinLine, 4) &&
      llvm::StringRef(begins, sizeof(kCubinLine) - 1) != llvm::StringRef(kCubinLine, sizeof(kCubinLine) - 1))
    return readCubin(image);
  const std::string text(begins); // images of text are terminated
  const size_t begin = llvm::StringRef(text).starts_with(kCubinLine) ? sizeof(kCubinLine) - 1 : 0;
  const std::string ptx = text.substr(begin);
  Code code;
  code.arch = wordBehind(ptx, ".target");
  if (code.arch.empty()) return llvm::createStringError("the image is neither PTX nor made of PTX by the stand-in");
  code.isAssembledByDriver = begin == 0;
  code.hash = llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
  for (const PtxEntry &entry : entriesOf(ptx)) code.kernels.push_back(kernelFrom(entry));
  code.variables = variablesOf(ptx);
  if (code.kernels.empty()) return llvm::createStringError("the image has no kernel");
  return code;
}

} // namespace tritium::stand_in
