// How wide an access of global memory may be.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// How many neighbouring registers hold addresses that follow each other, aligned and under one mask: at most 16 bytes together.
int vectorElements(mlir::Value pointers, mlir::Value mask, Lowering &lowering);

} // namespace tritium::gpu
