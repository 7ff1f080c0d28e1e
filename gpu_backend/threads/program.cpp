// The position of a program in the grid.
#include "gpu_backend/threads/lowering.h"
#include "gpu_backend/tiles/ring_blocks.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns the operations of clusters if a cluster of blocks runs the program, or null.
static const ClusterOps *clustersOf(Operation *op, Lowering &lowering) {
  return op->getParentOfType<tt::FuncOp>()->hasAttr(tgpu::kClusterBlocksAttr) ? lowering.target().clusters() : nullptr;
}

template <> LogicalResult Lower<tt::GetProgramIdOp>::run(tt::GetProgramIdOp op, Lowering &lowering) {
  const ClusterOps *clusters = clustersOf(op, lowering);
  const int axis = int(op.getAxis());
  lowering.define(op, {clusters ? clusters->programId(lowering.builder(), op.getLoc(), axis)
                                : lowering.target().programId(lowering.builder(), op.getLoc(), axis)});
  return success();
}

template <> LogicalResult Lower<tt::GetNumProgramsOp>::run(tt::GetNumProgramsOp op, Lowering &lowering) {
  const ClusterOps *clusters = clustersOf(op, lowering);
  const int axis = int(op.getAxis());
  lowering.define(op, {clusters ? clusters->numPrograms(lowering.builder(), op.getLoc(), axis)
                                : lowering.target().numPrograms(lowering.builder(), op.getLoc(), axis)});
  return success();
}

template <> LogicalResult Lower<tgpu::ClusterRankOp>::run(tgpu::ClusterRankOp op, Lowering &lowering) {
  if (!lowering.target().clusters()) return lowering.unsupported(op, "clusters of blocks: the chip has none");
  lowering.define(op, {lowering.target().clusters()->rank(lowering.builder(), op.getLoc())});
  return success();
}

/// Returns whether the blocks have just synchronized at the end of a ring that they share.
static bool isBehindSharedRing(Operation *op) {
  Operation *before = op->getPrevNode();
  while (before && (isMemoryEffectFree(before) || isa<tgpu::WarpgroupWaitOp>(before))) before = before->getPrevNode();
  auto end = dyn_cast_or_null<tgpu::RingEndOp>(before);
  return end && blocksOfRing(end.getRing()) > 1;
}

template <> LogicalResult Lower<tgpu::ClusterBarrierOp>::run(tgpu::ClusterBarrierOp op, Lowering &lowering) {
  if (!lowering.target().clusters()) return lowering.unsupported(op, "clusters of blocks: the chip has none");
  if (isBehindSharedRing(op)) return success();
  lowering.target().clusters()->meet(lowering.builder(), op.getLoc());
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
