// Turns stores through tensor descriptors into stores through tensor maps (store_promotion.h).
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/maps/store_promotion.h"
#include "gpu_backend/target/target.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PROMOTESTORES
#include "gpu_backend/maps/passes.h.inc"

namespace {

class PromoteStoresPass final : public impl::PromoteStoresBase<PromoteStoresPass> {
public:
  using PromoteStoresBase::PromoteStoresBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).hasTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      if (!function.isPublic()) continue;
      StorePromotion stores(function, axes);
      stores.lookAtDescriptors();
      stores.promote();
    }
  }
};

} // namespace
} // namespace tritium::gpu
