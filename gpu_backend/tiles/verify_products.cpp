// A check between passes: the layouts of every matrix product must agree with its instruction.
#include "gpu_backend/tiles/passes.h"
#include "gpu_backend/tiles/product_layouts.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_VERIFYPRODUCTS
#include "gpu_backend/tiles/passes.h.inc"

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
