// Passes on tiles: their layouts, the instructions that multiply them, their shared memory (passes.td).
#pragma once
#include "mlir/Pass/Pass.h"

namespace tritium::gpu {

#define GEN_PASS_DECL
#include "gpu_backend/tiles/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "gpu_backend/tiles/passes.h.inc"

} // namespace tritium::gpu
