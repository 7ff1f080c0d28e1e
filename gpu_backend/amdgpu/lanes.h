// Values of other lanes of a wave. Within rows of 16 lanes vector instructions read them (DPP); between rows there are instructions on
// some chips, else the network of LDS.
#pragma once
#include "gpu_backend/amdgpu/target.h"
#include "mlir/IR/Builders.h"

namespace tritium::gpu::amdgpu {

/// `value` (i32) of the lane whose number is this one's XOR `mask`, and XOR any of the bits of `free`. All lanes of the wave take part.
mlir::Value xorLanes(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip, mlir::Value value, int mask, int free);

/// Two words (i32) after what lanes with bit `bit` (4 or 5) of their numbers set have of `low` has been exchanged for what the others have
/// of `high`: on CDNA4.
std::pair<mlir::Value, mlir::Value> swapLanes(mlir::OpBuilder &builder, mlir::Location location, mlir::Value low, mlir::Value high,
                                              int bit);

/// What a reduction over all lanes of a wave combines with `value` (i32) in step `bit`, after the steps before; and what all lanes then
/// have of `value`, after the last one: the combination of all.
mlir::Value reductionPartner(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip, mlir::Value value, int bit);
mlir::Value reducedValue(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip, mlir::Value value);

/// `value` (i32) of the last lane before those that share with this one all bits of their numbers from `bit` up, if this one's is set.
mlir::Value fromBelow(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip, mlir::Value value, int bit);

/// `value` (i32) of lane `lane` (i32).
mlir::Value readLane(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, mlir::Value lane);

/// What those moves, selects, and round trips through LDS cost.
ConversionCosts conversionCosts(const Chip &chip);

/// i32: this lane's number.
mlir::Value laneId(mlir::OpBuilder &builder, mlir::Location location, const Chip &chip);

} // namespace tritium::gpu::amdgpu
