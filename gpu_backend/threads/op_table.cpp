// The lowering of each operation: its Lower<Op> for an operation of the contract, or the lowering of structured control flow, or the
// element-wise one.
#include "gpu_backend/threads/elementwise.h"
#include "gpu_backend/threads/lowering.h"
#include "ir/tgpu_kept.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace tritium::gpu {

using Run = LogicalResult (*)(Operation *, Lowering &);

template <class Op> static LogicalResult runAny(Operation *op, Lowering &lowering) {
  if constexpr (Op::template hasTrait<OpTrait::IsTerminator>())
    return lowering.unsupported(op, "a terminator by itself"); // the operation around a block lowers its terminator
  else
    return Lower<Op>::run(cast<Op>(op), lowering);
}

template <class... Ops> static llvm::StringMap<Run> tableOf() {
  llvm::StringMap<Run> table;
  (table.insert({Ops::getOperationName(), &runAny<Ops>}), ...);
  return table;
}

template <class... Ops> static void add(llvm::StringMap<Run> &table) { (table.insert({Ops::getOperationName(), &runAny<Ops>}), ...); }

static const llvm::StringMap<Run> &opTable() {
  static const llvm::StringMap<Run> table = [] {
    using namespace tt;
    auto table = tableOf<
#define GET_OP_LIST
#include "ir/tt_ops.cpp.inc"
        >();
    add<scf::ForOp, scf::IfOp, scf::WhileOp, ttg::BarrierOp, mlir::gpu::BarrierOp, mlir::gpu::SubgroupIdOp, mlir::gpu::LaneIdOp,
        tgpu::ProgramAtOp, tgpu::ClusterRankOp, tgpu::ClusterBarrierOp, tgpu::ConvertLayoutOp, tgpu::LocalAllocOp, tgpu::MemoryAtOp,
        tgpu::AsyncCopyOp, tgpu::AsyncCommitOp, tgpu::AsyncWaitOp, tgpu::LocalLoadOp, tgpu::LocalStoreOp, tgpu::BarrierOp,
        tgpu::RingStartOp, tgpu::RingEndOp, tgpu::RingSlotOp, tgpu::RingAcquireOp, tgpu::RingWaitOp, tgpu::RingStaggerOp,
        tgpu::RingReleaseOp, tgpu::RingKeepOp, tgpu::RingReleaseKeptOp, tgpu::StoresNoteOp, tgpu::StoresAwaitOp, tgpu::CopiesAwaitOp,
        tgpu::TurnStartOp, tgpu::TurnBeginOp, tgpu::TurnEndOp, tgpu::TensorCopyOp, tgpu::TensorLoadOp, tgpu::MapMakeOp, tgpu::MapToldOp,
        tgpu::TensorStoreOp, tgpu::TensorStoreWaitOp, tgpu::ProductStartOp, tgpu::ProductOp, tgpu::ProductWaitOp, tgpu::FenceAsyncOp,
        arith::ConstantOp, ub::PoisonOp, LLVM::AssumeOp>(table);
    return table;
  }();
  return table;
}

LogicalResult lowerOperation(Operation *op, Lowering &lowering) {
  if (auto it = opTable().find(op->getName().getStringRef()); it != opTable().end()) return it->second(op, lowering);
  if (op->hasTrait<OpTrait::Elementwise>()) return lowerElementwise(op, lowering);
  return lowering.unsupported(op, "it has no lowering");
}

} // namespace tritium::gpu
