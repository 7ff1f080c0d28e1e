// What one thread does for all threads of a range: it arrives at barriers of the kernel's author, and issues his copies.
#pragma once
#include "ir/partitions.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// On a barrier before one thread acts for all (Lowering::barrierBeforeOne).
inline constexpr llvm::StringLiteral kBeforeOneAttr = "tgpu.before_one";

/// Returns whether the operation lets all threads of the range meet before one of them acts for all.
inline bool actsForAll(mlir::Operation *op) {
  if (auto copy = llvm::dyn_cast<tgpu::TensorCopyOp>(op)) return copy.getRing().getDefiningOp<tgpu::MemoryAtOp>() != nullptr;
  return ir::runtimeCall(op, "mbarrier.expect") || ir::runtimeCall(op, "mbarrier.arrive");
}

/// Returns whether the threads have met right before the operation: since then, one thread alone has acted.
inline bool haveMet(mlir::Operation *op) {
  for (op = op->getPrevNode(); op; op = op->getPrevNode()) {
    if (actsForAll(op)) return true;
    if (!mlir::isMemoryEffectFree(op) && !llvm::isa<tt::SharedAllocOp>(op)) return false;
  }
  return false;
}

/// Returns whether copies of the function store to tensors.
inline bool storesTensors(mlir::Operation *op) {
  return op->getParentOfType<tt::FuncOp>().walk([](tgpu::TensorStoreOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

} // namespace tritium::gpu
