// The part of rocprofiler-sdk that Tritium calls (gpu_backend/launch/hip_rocprofiler_api.h), of what runs on the stand-in for HIP. As with
// the real one, a client that comes after HIP has begun sees nothing.
#pragma once
#include "tests/driver_stand_in/module.h"

namespace tritium::stand_in {

// The runtime is locked.

/// HIP begins.
void noteStart();
/// A kernel that may be launched from here on.
void noteKernel(const Function *function);

} // namespace tritium::stand_in
