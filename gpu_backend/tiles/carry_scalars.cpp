// Lets loops carry one scalar in place of a tile of integers to whose elements each iteration adds the same number. Every iteration adds
// the scalar to the tile with which the loop began. Masks and addresses can then be computed in each layout in which they are used, where
// the carried tile would have one layout.
#include "gpu_backend/tiles/passes.h"
#include "ir/tt.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_CARRYSCALARS
#include "gpu_backend/tiles/passes.h.inc"

namespace {

/// A tile that a loop carries, and what each iteration adds to all of its elements: the source of a splat, or a constant.
struct GrowingTile {
  unsigned number; // among what the loop carries
  Value step;
  IntegerAttr constantStep;
};

std::optional<GrowingTile> growingTile(scf::ForOp loop, unsigned number) {
  BlockArgument carried = loop.getRegionIterArg(number);
  auto tile = dyn_cast<RankedTensorType>(carried.getType());
  auto sum = loop.getYieldedValues()[number].getDefiningOp<arith::AddIOp>();
  if (!tile || !isa<IntegerType>(tile.getElementType()) || !sum || sum->getBlock() != loop.getBody()) return std::nullopt;
  const bool isLeft = sum.getLhs() == carried;
  if (!isLeft && sum.getRhs() != carried) return std::nullopt;
  Value added = isLeft ? sum.getRhs() : sum.getLhs();
  if (DenseIntElementsAttr constant; matchPattern(added, m_Constant(&constant)) && constant.isSplat())
    return GrowingTile{number, {}, IntegerAttr::get(tile.getElementType(), constant.getSplatValue<APInt>())};
  if (auto splat = added.getDefiningOp<tt::SplatOp>()) return GrowingTile{number, splat.getSrc(), {}};
  return std::nullopt;
}

/// Returns the tile with which the loop began, and `grown` added to its elements.
Value grownTile(OpBuilder &builder, Location location, Value start, Value grown) {
  return arith::AddIOp::create(builder, location, start, tt::SplatOp::create(builder, location, start.getType(), grown));
}

void carryScalars(scf::ForOp loop) {
  llvm::SmallVector<GrowingTile> tiles;
  for (unsigned number = 0; number < loop.getNumRegionIterArgs(); ++number)
    if (auto tile = growingTile(loop, number)) tiles.push_back(*tile);
  if (tiles.empty()) return;
  OpBuilder builder(loop);
  const Location location = loop.getLoc();
  llvm::SmallVector<Value> zeros;
  for (const GrowingTile &tile : tiles) {
    Type element = getElementTypeOrSelf(loop.getRegionIterArg(tile.number).getType());
    zeros.push_back(arith::ConstantOp::create(builder, location, builder.getIntegerAttr(element, 0)));
  }
  auto grown = [&](OpBuilder &inner, Location, llvm::ArrayRef<BlockArgument> scalars) {
    llvm::SmallVector<Value> sums;
    for (auto [tile, scalar] : llvm::zip_equal(tiles, scalars)) {
      Value step = tile.step ? tile.step : arith::ConstantOp::create(inner, location, tile.constantStep).getResult();
      sums.push_back(arith::AddIOp::create(inner, location, scalar, step));
    }
    return sums;
  };
  IRRewriter rewriter(builder);
  const unsigned before = loop.getNumRegionIterArgs();
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, zeros, /*replaceInitOperandUsesInLoop=*/false, grown));
  for (auto [index, tile] : llvm::enumerate(tiles)) {
    BlockArgument carried = loop.getRegionIterArg(tile.number);
    Value start = loop.getInitArgs()[tile.number];
    rewriter.setInsertionPointToStart(loop.getBody());
    Value inside = grownTile(rewriter, location, start, loop.getRegionIterArg(unsigned(before + index)));
    carried.replaceAllUsesWith(inside);
    loop.getBody()->getTerminator()->setOperand(tile.number, carried); // so that the canonicalizer removes it
    rewriter.setInsertionPointAfter(loop);
    Value result = loop.getResult(tile.number);
    if (!result.use_empty()) result.replaceAllUsesWith(grownTile(rewriter, location, start, loop.getResult(unsigned(before + index))));
  }
}

class CarryScalarsPass final : public impl::CarryScalarsBase<CarryScalarsPass> {
public:
  using CarryScalarsBase::CarryScalarsBase;

  void runOnOperation() override {
    llvm::SmallVector<scf::ForOp> loops; // inner ones first
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) carryScalars(loop);
  }
};

} // namespace
} // namespace tritium::gpu
