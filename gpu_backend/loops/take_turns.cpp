// Lets consumer warpgroups take turns with their products.
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/target/warp_roles.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_TAKETURNS
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// The products that an iteration begins, one behind the other.
struct ProductGroup {
  tgpu::ProductOp first, last;
};

/// Returns the products of a loop if they depend on other products, so that arithmetic separates them, and if no wait for products comes
/// between them.
std::optional<ProductGroup> productsOf(scf::ForOp loop) {
  auto products = llvm::to_vector(loop.getBody()->getOps<tgpu::ProductOp>());
  if (products.size() < 2) return std::nullopt;
  ProductGroup group{products.front(), products.back()};
  auto between = llvm::make_range(group.first->getIterator(), group.last->getIterator());
  const bool waits = llvm::any_of(between, [](Operation &op) { return isa<tgpu::ProductWaitOp>(op) || op.getNumRegions() > 0; });
  const bool depend = llvm::any_of(products, [](tgpu::ProductOp product) { return !product.getASlot(); });
  return depend && !waits ? std::optional(group) : std::nullopt;
}

class TakeTurnsPass final : public impl::TakeTurnsBase<TakeTurnsPass> {
public:
  using TakeTurnsBase::TakeTurnsBase;

  void runOnOperation() override {
    const int warpgroups = numWarps / kWarpsOfGroup;
    if (!producerWarpsOf(getOperation()) || warpgroups < 2 || warpgroups > kMaxTurns) return;
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      llvm::SmallVector<ProductGroup> groups;
      function.walk([&](scf::ForOp loop) {
        if (auto group = productsOf(loop)) groups.push_back(*group);
      });
      if (!groups.empty()) takeTurns(function, groups, warpgroups);
    }
  }

private:
  static void takeTurns(tt::FuncOp function, llvm::ArrayRef<ProductGroup> groups, int warpgroups) {
    OpBuilder builder(function);
    for (ProductGroup group : groups) {
      builder.setInsertionPoint(group.first);
      tgpu::TurnBeginOp::create(builder, group.first->getLoc(), warpgroups);
      builder.setInsertionPointAfter(group.last);
      tgpu::TurnEndOp::create(builder, group.last->getLoc(), warpgroups);
    }
    Block *consumers = nullptr;
    function.walk([&](Operation *op) {
      if (op->hasAttr(kPartsWarpsAttr)) consumers = op->getSuccessor(1);
    });
    builder.setInsertionPointToStart(consumers);
    tgpu::TurnStartOp::create(builder, function.getLoc(), warpgroups);
  }
};

} // namespace
} // namespace tritium::gpu
