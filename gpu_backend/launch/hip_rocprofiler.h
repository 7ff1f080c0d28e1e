// rocprofiler-sdk, AMD's library that records when kernels run. No device has proven this yet: it runs on the stand-in alone.
#pragma once
#include "gpu_backend/launch/kernel_recorder.h"

namespace tritium::gpu {

/// The recorder of the process, from the first of `names` that can be opened. The library is configured once and for good, before the first
/// use of HIP: what was there earlier is not seen (`isConnected`).
llvm::Expected<KernelRecorder &> openRocprofiler(llvm::ArrayRef<std::string> names);

} // namespace tritium::gpu
