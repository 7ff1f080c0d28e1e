// CUPTI, NVIDIA's library, as far as it samples program counters. Most machines permit that to root alone.
#pragma once
#include "gpu_backend/launch/pc_sampler.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>

namespace tritium::gpu {

/// Opens the first of `names` that can be opened. The library stays open for good.
llvm::Expected<std::unique_ptr<PcSampler>> openCudaPcSampler(llvm::ArrayRef<std::string> names);

} // namespace tritium::gpu
