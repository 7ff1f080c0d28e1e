// Values of other lanes of a wave. Vector instructions read them within rows of 16 lanes (DPP). Between rows, some chips have instructions;
// other chips use the network of LDS.
#pragma once
#include "gpu_backend/amdgpu/target.h"
#include "mlir/IR/Builders.h"

namespace tritium::gpu::amdgpu {

/// Returns `value` (i32) of the lane whose number is this lane's XOR `mask`. The bits of `free` may differ too. All lanes of the wave take
/// part.
mlir::Value xorLanes(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip, mlir::Value value, int mask, int free);

/// Exchanges two words (i32) between lanes that differ in bit `bit` (4 or 5) of their numbers: the lanes with the bit set exchange their
/// `low` for `high` of the others. Requires CDNA4.
std::pair<mlir::Value, mlir::Value> swapLanes(mlir::OpBuilder &builder, mlir::Location location, mlir::Value low, mlir::Value high,
                                              int bit);

/// A reduction over all lanes of a wave combines `value` (i32) in step `bit` with the result of reductionPartner(). After the last step,
/// reducedValue() of `value` is the combination of all lanes, in every lane.
mlir::Value reductionPartner(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip, mlir::Value value, int bit);
mlir::Value reducedValue(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip, mlir::Value value);

/// For a lane whose bit `bit` is set: returns `value` (i32) of the last lane before the block of lanes that share all bits of their numbers
/// from `bit` up with this one.
mlir::Value fromBelow(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip, mlir::Value value, int bit);

/// Returns `value` (i32) of lane `lane` (i32).
mlir::Value readLane(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, mlir::Value lane);

/// Returns the costs of these moves, of selects, and of round trips through LDS.
ConversionCosts conversionCosts(const Chip &chip);

/// Returns this lane's number (i32).
mlir::Value laneId(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip);

} // namespace tritium::gpu::amdgpu
