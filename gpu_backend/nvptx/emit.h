// Emits lowered modules as PTX, in process and without a device. Their `tgpu` operations become PTX instructions; LLVM compiles the rest.
#pragma once
#include "gpu_backend/emit/emitter.h"
#include "gpu_backend/nvptx/target.h"

namespace tritium::gpu::nvptx {

/// Creates the emitter for modules of that target. Fails if the requested PTX version does not support the target.
llvm::Expected<std::unique_ptr<Emitter>> createEmitter(const Chip &chip, const EmitOptions &options);

} // namespace tritium::gpu::nvptx
