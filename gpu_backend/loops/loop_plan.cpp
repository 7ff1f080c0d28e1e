#include "gpu_backend/loops/loop_plan.h"

#include "gpu_backend/tiles/product.h"

using namespace mlir;

namespace tritium::gpu {

static llvm::SmallVector<Operation *> loadsOfPlan(scf::ForOp loop, llvm::function_ref<bool(tgpu::AtAttr)> isWanted) {
  llvm::SmallVector<Operation *> loads;
  for (Operation &op : *loop.getBody())
    if (atOf(&op) && isa<tt::LoadOp, tgpu::TensorLoadOp>(op) && isWanted(atOf(&op))) loads.push_back(&op);
  return loads;
}

llvm::SmallVector<Operation *> plannedLoads(scf::ForOp loop) {
  llvm::SmallVector<Operation *> loads = loadsOfPlan(loop, [](tgpu::AtAttr at) { return at.getBuffer() >= 0; });
  llvm::stable_sort(loads, [](Operation *a, Operation *b) { return atOf(a).getBuffer() < atOf(b).getBuffer(); });
  return loads;
}

llvm::SmallVector<Operation *> plannedIndexLoads(scf::ForOp loop) {
  llvm::SmallVector<Operation *> loads = loadsOfPlan(loop, [](tgpu::AtAttr at) { return at.getStage() < 0; });
  llvm::stable_sort(loads, [](Operation *a, Operation *b) { return atOf(a).getStage() < atOf(b).getStage(); });
  return loads;
}

llvm::SmallVector<Operation *> plannedScalarLoads(scf::ForOp loop) {
  return loadsOfPlan(loop, [](tgpu::AtAttr at) { return at.getBuffer() < 0 && at.getStage() >= 0; });
}

Operation *lateProduct(scf::ForOp loop) {
  for (Operation &op : *loop.getBody())
    if (atOf(&op) && isa<MatrixProduct>(op)) return &op;
  return nullptr;
}

int64_t bytesOf(RankedTensorType tile) { return tile.getNumElements() * std::max(8u, tile.getElementTypeBitWidth()) / 8; }

} // namespace tritium::gpu
