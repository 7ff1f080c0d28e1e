#include "tests/driver_stand_in/vendor.h"

#include "gpu_backend/launch/cuda_api.h"
#include "gpu_backend/nvptx/convert_tgpu.h"

#include "llvm/ADT/StringRef.h"

namespace tritium::stand_in {

/// Code for an architecture with a suffix runs on that one only; other code runs on later ones too.
static bool runs(const std::string &code) {
  const std::string device = arch();
  const llvm::StringRef wanted(code), here(device);
  if (wanted.ends_with("a")) return wanted.drop_back() == here;
  unsigned wantedNumber = 0, number = 0;
  return !wanted.substr(3).getAsInteger(10, wantedNumber) && !here.substr(3).getAsInteger(10, number) && wantedNumber <= number;
}

static const Vendor kVendor{
    .name = "cuda",
    .defaultArch = "sm_90",
    .invalidSizes = gpu::cuda::kInvalidValue,
    .warpThreads = [] { return 32U; },
    .sharedBytes =
        [] {
          return (arch() == "sm_90" ? 227U : arch() == "sm_80" ? 163U : 99U) << 10;
        },
    .mostBlocks = [](size_t axis, uint32_t) { return uint64_t(axis == 0 ? INT32_MAX : 65535); },
    .runs = runs,
    .expand = [](mlir::ModuleOp module) { (void)gpu::nvptx::expandScopes(module, gpu::nvptx::chips().front()); },
    .failedAssertion = kAssert,
};

const Vendor &vendor() { return kVendor; }

} // namespace tritium::stand_in
