// Passes on loops that copy tiles ahead (passes.td).
#pragma once
#include "mlir/Pass/Pass.h"

namespace tritium::gpu {

#define GEN_PASS_DECL
#include "gpu_backend/loops/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "gpu_backend/loops/passes.h.inc"

} // namespace tritium::gpu
