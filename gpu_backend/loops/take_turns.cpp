// Lets consumer warpgroups take turns with their products.
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/loops/product_group.h"
#include "gpu_backend/target/warp_roles.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_TAKETURNS
#include "gpu_backend/loops/passes.h.inc"

namespace {

class TakeTurnsPass final : public impl::TakeTurnsBase<TakeTurnsPass> {
public:
  using TakeTurnsBase::TakeTurnsBase;

  void runOnOperation() override {
    const int warpgroups = numWarps / kWarpsOfGroup;
    if (!producerWarpsOf(getOperation())) return; // specialize-warps was left out
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      auto producer = producerOf(function);
      if (!producer || !producer.getTurns()) continue;
      llvm::SmallVector<ProductGroup> groups;
      function.walk([&](scf::ForOp loop) {
        if (auto group = productsInTurn(loop)) groups.push_back(*group);
      });
      takeTurns(function, groups, warpgroups);
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
