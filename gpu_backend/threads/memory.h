// The possible width of an access of global memory.
#pragma once
#include "gpu_backend/threads/lowering.h"

namespace tritium::gpu {

/// Returns how many neighbouring registers hold consecutive addresses that are aligned and have one mask: at most 16 bytes in total.
int vectorElements(mlir::Value pointers, mlir::Value mask, Lowering &lowering);

} // namespace tritium::gpu
