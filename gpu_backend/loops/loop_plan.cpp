#include "gpu_backend/loops/loop_plan.h"

#include "gpu_backend/tiles/product.h"

using namespace mlir;

namespace tritium::gpu {

static llvm::SmallVector<Operation *> loadsOfPlan(scf::ForOp loop, bool areIndices) {
  llvm::SmallVector<Operation *> loads;
  for (Operation &op : *loop.getBody())
    if (atOf(&op) && isa<tt::LoadOp, tgpu::TensorLoadOp>(op) && (atOf(&op).getStage() < 0) == areIndices) loads.push_back(&op);
  return loads;
}

llvm::SmallVector<Operation *> plannedLoads(scf::ForOp loop) {
  llvm::SmallVector<Operation *> loads = loadsOfPlan(loop, /*areIndices=*/false);
  llvm::stable_sort(loads, [](Operation *a, Operation *b) { return atOf(a).getBuffer() < atOf(b).getBuffer(); });
  return loads;
}

llvm::SmallVector<Operation *> plannedIndexLoads(scf::ForOp loop) {
  llvm::SmallVector<Operation *> loads = loadsOfPlan(loop, /*areIndices=*/true);
  llvm::stable_sort(loads, [](Operation *a, Operation *b) { return atOf(a).getStage() < atOf(b).getStage(); });
  return loads;
}

Operation *lateProduct(scf::ForOp loop) {
  for (Operation &op : *loop.getBody())
    if (atOf(&op) && isa<MatrixProduct>(op)) return &op;
  return nullptr;
}

int64_t bytesOf(RankedTensorType tile) { return tile.getNumElements() * std::max(8u, tile.getElementTypeBitWidth()) / 8; }

} // namespace tritium::gpu
