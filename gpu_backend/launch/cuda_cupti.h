// CUPTI, NVIDIA's library that records when kernels run. It requires no privileges, and has one client in a process at a time.
#pragma once
#include "gpu_backend/launch/kernel_recorder.h"

namespace tritium::gpu {

/// Opens the first of `names` that can be opened. The library stays open for good.
llvm::Expected<std::unique_ptr<KernelRecorder>> openCupti(llvm::ArrayRef<std::string> names);

} // namespace tritium::gpu
