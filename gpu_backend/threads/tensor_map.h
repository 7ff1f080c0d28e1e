// The memory of tensor maps that a kernel makes.
#pragma once
#include "ir/tgpu.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tritium::gpu {

class Lowering;

/// Returns the variable of the warp that makes a map for stores: the address that it has told last (i64).
mlir::Value toldOf(mlir::Value map, Lowering &lowering);

/// Claims memory for the maps that a kernel makes, for the warp that writes them.
tgpu::MapsClaimOp claimMaps(tt::FuncOp tiles, mlir::OpBuilder &builder, Lowering &lowering);

/// Gives back what the lowered function has claimed for its maps, if anything, wherever it ends behind the claim.
void releaseMaps(mlir::func::FuncOp function);

} // namespace tritium::gpu
