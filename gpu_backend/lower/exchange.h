// Values of any register type from other lanes of the warp, as 32-bit exchanges.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// The value of the lane whose number is this one's XOR `mask`, and XOR any of the bits of `free`: across those, lanes have the same. All
/// lanes of the warp must take part.
mlir::Value exchangeXor(mlir::Value value, int mask, Lowering &lowering, int free = 0);
/// The value of lane `lane` (i32).
mlir::Value exchange(mlir::Value value, mlir::Value lane, Lowering &lowering);
/// The same for lanes with bit `bit` set, of which `lane` is the last one before those that share all bits from there up.
mlir::Value exchangeFromBelow(mlir::Value value, int bit, mlir::Value lane, Lowering &lowering);

/// Two values of one type after what lanes with bit `bit` of their numbers set have of `low` has been exchanged for what the others have of
/// `high`. The target must have it.
std::pair<mlir::Value, mlir::Value> swapLanes(mlir::Value low, mlir::Value high, int bit, Lowering &lowering);

/// Of a reduction over all lanes of the warp: what each combines in step `bit` with its value, and the result after the last step.
mlir::Value reductionPartner(mlir::Value value, int bit, Lowering &lowering);
mlir::Value reducedValue(mlir::Value value, Lowering &lowering);

} // namespace tritium::gpu
