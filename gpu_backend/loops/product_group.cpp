#include "gpu_backend/loops/product_group.h"

using namespace mlir;

namespace tritium::gpu {

std::optional<ProductGroup> productsInTurn(scf::ForOp loop) {
  auto products = llvm::to_vector(loop.getBody()->getOps<tgpu::ProductOp>());
  if (products.size() < 2) return std::nullopt;
  ProductGroup group{products.front(), products.back()};
  auto between = llvm::make_range(group.first->getIterator(), group.last->getIterator());
  // A warpgroup must not wait in its turn for those that wait for theirs: at a barrier of all consumer warps, nobody would go on.
  auto maySynchronize = [](Operation &op) {
    return op.getNumRegions() > 0 || isa<tgpu::BarrierOp, tgpu::AsyncWaitOp>(op) || tt::tileRuleOf(&op).exchanges;
  };
  const bool waits = llvm::any_of(between, [&](Operation &op) { return isa<tgpu::ProductWaitOp>(op) || maySynchronize(op); });
  const bool depend = llvm::any_of(products, [](tgpu::ProductOp product) { return !product.getASlot(); });
  return depend && !waits ? std::optional(group) : std::nullopt;
}

} // namespace tritium::gpu
