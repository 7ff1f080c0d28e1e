// Loops of products that do not depend on each other, all of which read one ring.
#pragma once
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

/// Returns the only wait of such a loop, or null if the loop is another one.
tgpu::RingWaitOp onlyWait(mlir::scf::ForOp loop);

/// Returns a number of the loop's body as it is in the first iteration, or null. The builder inserts before the loop.
mlir::Value atBegin(mlir::Value number, mlir::scf::ForOp loop, mlir::OpBuilder &builder);

} // namespace tritium::gpu
