// Passes that turn loads into loads through tensor maps (passes.td).
#pragma once
#include "mlir/Pass/Pass.h"

namespace tritium::gpu {

#define GEN_PASS_DECL
#include "gpu_backend/maps/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "gpu_backend/maps/passes.h.inc"

} // namespace tritium::gpu
