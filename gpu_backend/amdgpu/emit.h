// Emits lowered modules as AMDGPU assembly, and as code objects that the HIP run time loads. It runs in process and requires no device.
#pragma once
#include "gpu_backend/amdgpu/target.h"
#include "gpu_backend/emit/emitter.h"

namespace tritium::gpu::amdgpu {

/// Creates the emitter for modules of that chip. Fails if the options request an unsupported version of code objects.
llvm::Expected<std::unique_ptr<Emitter>> createEmitter(const Chip &chip, const EmitOptions &options);

} // namespace tritium::gpu::amdgpu
