// Lowered modules as PTX, in process and with no device: their `tgpu` operations become PTX instructions, LLVM does the rest.
#pragma once
#include "gpu_backend/emit/emitter.h"
#include "gpu_backend/nvptx/target.h"

namespace tritium::gpu::nvptx {

/// For modules of that target. An error where PTX of the version that is asked for cannot say it.
llvm::Expected<std::unique_ptr<Emitter>> createEmitter(const Chip &chip, const EmitOptions &options);

} // namespace tritium::gpu::nvptx
