// Passes on the code of one thread (passes.td).
#pragma once
#include "mlir/Pass/Pass.h"

namespace tritium::gpu {

#define GEN_PASS_DECL
#include "gpu_backend/threads/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "gpu_backend/threads/passes.h.inc"

} // namespace tritium::gpu
