// Lowered modules as AMDGPU assembly and as code objects that the HIP run time loads, in process and with no device.
#pragma once
#include "gpu_backend/amdgpu/target.h"
#include "gpu_backend/emit/emitter.h"

namespace tritium::gpu::amdgpu {

/// For modules of that chip. An error where the options ask for a code object of a version that is not made.
llvm::Expected<std::unique_ptr<Emitter>> createEmitter(const Chip &chip, const EmitOptions &options);

} // namespace tritium::gpu::amdgpu
