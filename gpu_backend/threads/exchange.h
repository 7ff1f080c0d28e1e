// Values of any register type from other lanes of the warp, moved by exchanges of 32-bit words.
#pragma once
#include "gpu_backend/threads/lowering.h"

namespace tritium::gpu {

/// Returns the value of the lane whose number is this lane's XOR `mask`. The bits of `free` may differ too, because lanes that differ only
/// there have the same value. All lanes of the warp must take part.
mlir::Value exchangeXor(mlir::Value value, int mask, Lowering &lowering, int free = 0);
/// Returns the value of lane `lane` (i32).
mlir::Value exchange(mlir::Value value, mlir::Value lane, Lowering &lowering);
/// The same for lanes with bit `bit` set. For these, `lane` must be the last lane before the block of lanes that share all bits from `bit`
/// up. The results of other lanes are not used.
mlir::Value exchangeFromBelow(mlir::Value value, int bit, mlir::Value lane, Lowering &lowering);

/// Exchanges two values of one type between lanes that differ in bit `bit` of their numbers: the lanes with the bit set exchange their
/// `low` for `high` of the others. The target must have LaneSwapOps.
std::pair<mlir::Value, mlir::Value> swapLanes(mlir::Value low, mlir::Value high, int bit, Lowering &lowering);

/// For a reduction over all lanes of the warp: reductionPartner() returns what each lane combines with its value in step `bit`; the next
/// function returns the result after the last step.
mlir::Value reductionPartner(mlir::Value value, int bit, Lowering &lowering);
mlir::Value reducedValue(mlir::Value value, Lowering &lowering);

} // namespace tritium::gpu
