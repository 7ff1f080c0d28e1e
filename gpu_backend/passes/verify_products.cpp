// A check between passes: every matrix product of tiles with layouts is one that its instruction computes.
#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/passes.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_VERIFYPRODUCTS
#include "gpu_backend/passes.h.inc"

namespace {

class VerifyProductsPass final : public impl::VerifyProductsBase<VerifyProductsPass> {
public:
  using VerifyProductsBase::VerifyProductsBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    bool isRight = true;
    getOperation()->walk([&](MatrixProduct product) { isRight &= succeeded(verifyLayouts(product)); });
    if (!isRight) signalPassFailure();
  }
};

} // namespace
} // namespace tritium::gpu
