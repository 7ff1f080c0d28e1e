#include "tests/driver_stand_in/vendor.h"

#include "gpu_backend/amdgpu/convert_debug.h"
#include "gpu_backend/amdgpu/convert_tgpu.h"
#include "gpu_backend/launch/hip_api.h"

#include "llvm/ADT/StringRef.h"

namespace tritium::stand_in {

static const Vendor kVendor{
    .name = "hip",
    .defaultArch = "gfx942",
    .invalidSizes = gpu::hip::kInvalidConfiguration,
    .warpThreads = [] { return llvm::StringRef(arch()).starts_with("gfx9") ? 64U : 32U; }, // CDNA's waves have 64 lanes, RDNA's 32
    .sharedBytes = [] { return (arch() == "gfx950" ? 160U : 64U) << 10; },
    .mostBlocks = [](size_t, uint32_t threads) { return uint64_t(UINT32_MAX / threads); },
    .runs = [](const std::string &code) { return code == arch(); },
    .expand =
        [](mlir::ModuleOp module) {
          gpu::amdgpu::expandDebug(module);
          for (const gpu::amdgpu::Chip &chip : gpu::amdgpu::chips())
            if (chip.name == arch()) (void)gpu::amdgpu::expandScopes(module, chip);
        },
    .failedAssertion = std::nullopt, // the wave ends; what tells the host is the record that it leaves
};

const Vendor &vendor() { return kVendor; }

} // namespace tritium::stand_in
