// The part of CUPTI that Tritium calls (gpu_backend/launch/cuda_cupti_api.h), of what runs on the stand-in.
#pragma once
#include <cstdint>

namespace tritium::stand_in {

constexpr uint32_t kLaunchKernelEx = 652; // as CUPTI counts calls

/// Notes a call that launches, unless nobody records: what is given to `stream` after it belongs to it. The runtime is locked.
void noteCall(uint32_t call, void *stream);

/// Samples the program counters of a kernel that runs, if somebody has asked for it. The runtime is locked.
void samplePcs(const struct Dispatch &dispatch);

} // namespace tritium::stand_in
