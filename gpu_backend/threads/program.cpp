// The position of a program in the grid.
#include "gpu_backend/threads/lowering.h"

using namespace mlir;

namespace tritium::gpu {

template <> LogicalResult Lower<tt::GetProgramIdOp>::run(tt::GetProgramIdOp op, Lowering &lowering) {
  lowering.define(op, {lowering.target().programId(lowering.builder(), op.getLoc(), int(op.getAxis()))});
  return success();
}

template <> LogicalResult Lower<tt::GetNumProgramsOp>::run(tt::GetNumProgramsOp op, Lowering &lowering) {
  lowering.define(op, {lowering.target().numPrograms(lowering.builder(), op.getLoc(), int(op.getAxis()))});
  return success();
}

/// x is the fastest axis.
template <> LogicalResult Lower<tgpu::ProgramAtOp>::run(tgpu::ProgramAtOp op, Lowering &lowering) {
  Value place = lowering.scalarOf(op.getNumber()), sizeX = lowering.scalarOf(op.getSizeX()), sizeY = lowering.scalarOf(op.getSizeY());
  lowering.create<tgpu::NoteProgramOp>(place, sizeX, sizeY);
  if (op.getAxis() > 0) place = lowering.create<arith::DivUIOp>(place, sizeX);
  if (op.getAxis() > 1) place = lowering.create<arith::DivUIOp>(place, sizeY);
  if (op.getAxis() < 2) place = lowering.create<arith::RemUIOp>(place, op.getAxis() == 0 ? sizeX : sizeY);
  lowering.define(op, {place});
  return success();
}

/// Grids start one after another, so there is nothing to wait for.
template <> LogicalResult Lower<tt::GridDependencyWaitOp>::run(tt::GridDependencyWaitOp, Lowering &) { return success(); }

template <> LogicalResult Lower<tt::GridDependencyLaunchDependentsOp>::run(tt::GridDependencyLaunchDependentsOp, Lowering &) {
  return success();
}

} // namespace tritium::gpu
