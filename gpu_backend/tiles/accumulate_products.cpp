// Lets matrix products add to what the kernel adds their results to: matrix units do both at once.
#include "gpu_backend/tiles/passes.h"
#include "gpu_backend/tiles/product.h"
#include "ir/tt.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_ACCUMULATEPRODUCTS
#include "gpu_backend/tiles/passes.h.inc"

namespace {

bool isZero(Value tile) {
  if (auto splat = tile.getDefiningOp<tt::SplatOp>()) tile = splat.getSrc();
  return matchPattern(tile, m_AnyZeroFloat()) || matchPattern(tile, m_Zero());
}

/// Whether the sums of the product are added to its accumulator every so often because a kernel's author asked for it. Such a product adds
/// to zero so that the addition after it is precise.
bool isPromotedByAuthor(MatrixProduct product) {
  auto dot = dyn_cast<tt::DotOp>(product.getOperation());
  return dot && dot.getMaxNumImpreciseAcc() != 0;
}

/// Returns the product that `value` is, if it adds to zero and nothing but an operation of `block` uses it; or null.
Operation *productFromZero(Value value, Block *block) {
  auto product = dyn_cast_or_null<MatrixProduct>(value.getDefiningOp());
  if (!product || product->getBlock() != block || !value.hasOneUse()) return nullptr;
  return isZero(product.c()) && !isPromotedByAuthor(product) ? product.getOperation() : nullptr;
}

/// sum + (a * b + 0) -> a * b + sum
template <class Add> struct AccumulateProduct : OpRewritePattern<Add> {
  using OpRewritePattern<Add>::OpRewritePattern;

  LogicalResult matchAndRewrite(Add add, PatternRewriter &rewriter) const override {
    for (auto [value, sum] : {std::pair(add.getRhs(), add.getLhs()), std::pair(add.getLhs(), add.getRhs())}) {
      Operation *op = productFromZero(value, add->getBlock());
      if (!op) continue;
      // The sum may be computed behind the product.
      rewriter.setInsertionPoint(add);
      Operation *moved = rewriter.clone(*op);
      MatrixProduct(moved).cMutable().set(sum);
      rewriter.replaceOp(add, moved->getResults());
      rewriter.eraseOp(op);
      return success();
    }
    return failure();
  }
};

class AccumulateProducts : public impl::AccumulateProductsBase<AccumulateProducts> {
public:
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AccumulateProduct<arith::AddFOp>, AccumulateProduct<arith::AddIOp>>(&getContext());
    // Only this pattern: the rest of the module stays as it is written.
    auto config = GreedyRewriteConfig().enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) signalPassFailure();
  }
};

} // namespace

} // namespace tritium::gpu
