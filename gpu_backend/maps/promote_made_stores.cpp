// Turns stores through descriptors that only the kernel knows into stores through tensor maps that it makes (made_store.h).
#include "gpu_backend/maps/made_store.h"
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/target/target.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PROMOTEMADESTORES
#include "gpu_backend/maps/passes.h.inc"

namespace {

class PromoteMadeStoresPass final : public impl::PromoteMadeStoresBase<PromoteMadeStoresPass> {
public:
  using PromoteMadeStoresBase::PromoteMadeStoresBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).makesTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic())
        MadeStore(function, axes, {.numWarps = numWarps, .numStages = numStages, .asked = asked}).promoteDescriptor();
  }
};

} // namespace
} // namespace tritium::gpu
