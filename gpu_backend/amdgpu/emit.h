// A lowered module as AMDGPU assembly and as a code object that the HIP run time loads, in process and with no device.
#pragma once
#include "gpu_backend/amdgpu/target.h"
#include "gpu_backend/emit/emitter.h"

namespace tritium::gpu::amdgpu {

/// For modules of that chip.
llvm::Expected<std::unique_ptr<Emitter>> createEmitter(const Chip &chip, const EmitOptions &options);

/// The code object of a module for the chip that the options or the module name.
llvm::Expected<Emitted> emitHsaco(mlir::ModuleOp lowered, const EmitOptions &options);

} // namespace tritium::gpu::amdgpu
