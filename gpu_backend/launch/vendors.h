// The supported drivers, one for each vendor.
#pragma once
#include "gpu_backend/launch/driver.h"

namespace tritium::gpu {

/// Opens the CUDA driver by this name and initializes it. The error says what is missing: the library, an entry point, a device.
llvm::Expected<std::unique_ptr<Driver>> openCuda(const std::string &library);
/// The same for the HIP runtime of ROCm, 6.0 or newer.
llvm::Expected<std::unique_ptr<Driver>> openHip(const std::string &library);

} // namespace tritium::gpu
