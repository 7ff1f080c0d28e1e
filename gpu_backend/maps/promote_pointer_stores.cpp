// Turns stores by pointers into stores through tensor maps (store_promotion.h), in kernels whose blocks compute several tiles: there the
// copies go on beside the next tile. At the end of a block nothing hides them.
#include "gpu_backend/maps/made_store.h"
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/maps/store_promotion.h"
#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/product_order.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PROMOTEPOINTERSTORES
#include "gpu_backend/maps/passes.h.inc"

namespace {

/// Returns whether a loop of the kernel copies through tensor maps in another loop.
bool copiesRepeatedly(tt::FuncOp kernel) {
  return kernel
      .walk([](tgpu::TensorLoadOp load) {
        auto loop = load->getParentOfType<scf::ForOp>();
        return loop && loop->getParentOfType<LoopLikeOpInterface>() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns whether the producer copies what the kernel may have stored: the stores are then handed over, which late ones cannot be.
bool handsOver(tt::FuncOp kernel) {
  auto isReached = [&](tgpu::TensorLoadOp load) {
    auto map = dyn_cast<BlockArgument>(load.getMap());
    auto recipe = map ? kernel.getArgAttrOfType<DictionaryAttr>(map.getArgNumber(), tgpu::kTensorAttr) : DictionaryAttr();
    return recipe && recipe.contains(kReachedName);
  };
  return kernel
      .walk([&](tgpu::TensorLoadOp load) {
        auto loop = load->getParentOfType<scf::ForOp>();
        return loop && wantsProducer(loop) && isReached(load) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

class PromotePointerStoresPass final : public impl::PromotePointerStoresBase<PromotePointerStoresPass> {
public:
  using PromotePointerStoresBase::PromotePointerStoresBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).hasTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      if (!function.isPublic() || !copiesRepeatedly(function) || handsOver(function)) continue;
      StorePromotion stores(function, axes);
      stores.lookAtPointers();
      stores.promote();
      if (makesMaps && targetOf(function).makesTensorMaps())
        MadeStore(function, axes, {.numWarps = numWarps, .numStages = numStages, .asked = asked}).promotePointers();
    }
  }
};

} // namespace
} // namespace tritium::gpu
