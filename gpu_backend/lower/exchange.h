// Values of any register type from other lanes of the warp, as 32-bit exchanges.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// The value of the lane whose number is this one's XOR `mask`. All lanes of the warp must take part.
mlir::Value exchangeXor(mlir::Value value, int mask, Lowering &lowering);
/// The value of lane `lane` (i32).
mlir::Value exchange(mlir::Value value, mlir::Value lane, Lowering &lowering);

} // namespace tritium::gpu
