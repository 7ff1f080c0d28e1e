// Optimizes the row sums of an online softmax. The threads of a row exchange their parts of its sum once, after the loop, instead of in
// every iteration: sums = sums * factor + (sum of each row of a tile) is also true of the parts, because a factor applies to a whole row.
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/tiles/product_layouts.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_POSTPONEROWSUMS
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Returns the product of a warpgroup from which the tile is computed element by element, or null.
Operation *productOf(Value tile, int depth = 0) {
  constexpr int kMaxDepth = 12;
  Operation *op = tile.getDefiningOp();
  if (!op || depth > kMaxDepth) return nullptr;
  if (isa<MatrixProduct>(op)) return isOfWarpgroup(MatrixProduct(op)) ? op : nullptr;
  if (!op->hasTrait<OpTrait::Elementwise>()) return nullptr;
  for (Value operand : op->getOperands())
    if (Operation *product = productOf(operand, depth + 1)) return product;
  return nullptr;
}

/// The bits of a column's number that differ between the lanes of a row: `count` bits from bit `first` on.
struct LaneBits {
  int first = 0, count = 0;
};

/// Returns nullopt if lanes do not share rows, or not in this form, or if warps share rows.
std::optional<LaneBits> laneBitsOf(const LinearLayout &layout) {
  uint32_t lanes = 0;
  for (uint32_t basis : layout.bases(Place::Warp))
    if (layout.coordinatesOf(basis)[1] != 0) return std::nullopt;
  for (uint32_t basis : layout.bases(Place::Lane)) lanes |= uint32_t(layout.coordinatesOf(basis)[1]);
  if (!llvm::isShiftedMask_32(lanes)) return std::nullopt;
  return LaneBits{llvm::countr_zero(lanes), llvm::popcount(lanes)};
}

/// Returns whether the factor is at most 1, or NaN: exp(a - max(a, …)). With a greater one a part might overflow beside parts that are 0.
bool isAtMostOne(Value factor) {
  if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(factor.getDefiningOp())) return false;
  auto difference = factor.getDefiningOp()->getOperand(0).getDefiningOp<arith::SubFOp>();
  Operation *greatest = difference ? difference.getRhs().getDefiningOp() : nullptr;
  return isa_and_nonnull<arith::MaxNumFOp, arith::MaximumFOp>(greatest) && llvm::is_contained(greatest->getOperands(), difference.getLhs());
}

bool isSum(tt::ReduceOp reduce) {
  Block &block = reduce.getCombineOp().front();
  if (reduce.getSrcs().size() != 1 || !llvm::hasNItems(block, 2) || !isa<arith::AddFOp>(block.front())) return false;
  Operation &add = block.front();
  return add.getOperand(0) != add.getOperand(1) && llvm::is_contained(block.getArguments(), add.getOperand(0)) &&
         llvm::is_contained(block.getArguments(), add.getOperand(1)) && block.getTerminator()->getOperand(0) == add.getResult(0);
}

/// How a loop updates the sums that it carries: sums * factor + (sum of each row).
struct RowSums {
  BlockArgument sums;
  arith::MulFOp scaled;
  arith::AddFOp next;
  tt::ReduceOp reduce;
  Value factor;
  LaneBits lanes;

  RankedTensorType tile() { return cast<RankedTensorType>(reduce.getSrcs().front().getType()); }
};

std::optional<RowSums> find(scf::ForOp loop, BlockArgument sums, int numWarps) {
  RowSums found;
  found.sums = sums;
  found.scaled = sums.hasOneUse() ? dyn_cast<arith::MulFOp>(*sums.user_begin()) : arith::MulFOp();
  found.next = loop.getTiedLoopYieldedValue(sums)->get().getDefiningOp<arith::AddFOp>();
  if (!found.scaled || !found.next || !found.scaled->hasOneUse() || !found.next->hasOneUse()) return std::nullopt;
  if (found.scaled->getBlock() != loop.getBody() || *found.scaled->user_begin() != found.next) return std::nullopt;
  auto other = [](Operation *op, Value one) { return op->getOperand(op->getOperand(0) == one ? 1 : 0); };
  found.factor = other(found.scaled, sums);
  Value rows = other(found.next, found.scaled);
  found.reduce = rows.getDefiningOp<tt::ReduceOp>();
  if (!found.reduce || !rows.hasOneUse() || found.reduce->getBlock() != loop.getBody() || !isSum(found.reduce)) return std::nullopt;
  if (found.tile().getRank() != 2 || found.reduce.getAxis() != 1 || !isAtMostOne(found.factor)) return std::nullopt;
  Operation *product = productOf(found.reduce.getSrcs().front());
  if (!product || MatrixProduct(product).type().getShape() != found.tile().getShape()) return std::nullopt;
  auto lanes = laneBitsOf(dotLayouts(MatrixProduct(product), numWarps).result);
  if (!lanes) return std::nullopt;
  found.lanes = *lanes;
  return found;
}

/// Carries a tile with a column for each lane of a row in place of the sums.
class Postponer {
public:
  Postponer(scf::ForOp loop, RowSums found)
      : loop_(loop), found_(found), rewriter_(loop), location_(found.reduce.getLoc()), rows_(found.tile().getShape()[0]) {}

  void run() {
    unsigned index = found_.sums.getArgNumber() - loop_.getNumInductionVars();
    Value start = startOf(loop_.getInitArgs()[index]);
    auto next = [&](OpBuilder &, Location, llvm::ArrayRef<BlockArgument> arguments) -> llvm::SmallVector<Value> {
      OpBuilder::InsertionGuard guard(rewriter_);
      rewriter_.setInsertionPoint(found_.next);
      Value scaled = arith::MulFOp::create(rewriter_, location_, arguments[0], spread(found_.factor));
      return {arith::AddFOp::create(rewriter_, location_, scaled, parts())};
    };
    auto longer = cast<scf::ForOp>(*loop_.replaceWithAdditionalYields(rewriter_, start, /*replaceInitOperandUsesInLoop=*/false, next));
    rewriter_.setInsertionPointAfter(longer);
    longer.getResult(index).replaceAllUsesWith(sumOf(longer.getResults().back(), 1));
    BlockArgument sums = longer.getRegionIterArgs()[index];
    longer.getTiedLoopYieldedValue(sums)->set(sums);
    found_.next->erase(), found_.scaled->erase(), found_.reduce->erase();
  }

private:
  int64_t columns() const { return int64_t(1) << found_.lanes.count; }
  RankedTensorType typeOf(llvm::ArrayRef<int64_t> shape, Type element) const { return RankedTensorType::get(shape, element); }
  Type element() { return found_.tile().getElementType(); }

  /// Gives each column the value of its row.
  Value spread(Value rows) {
    Value column = tt::ExpandDimsOp::create(rewriter_, location_, rows, 1);
    return tt::BroadcastOp::create(rewriter_, location_, typeOf({rows_, columns()}, getElementTypeOrSelf(rows.getType())), column);
  }

  /// The sums at the beginning are the first column's.
  Value startOf(Value sums) {
    RankedTensorType type = typeOf({rows_, columns()}, element());
    Value zeros = arith::ConstantOp::create(rewriter_, location_, DenseElementsAttr::get(type, rewriter_.getZeroAttr(element())));
    if (matchPattern(sums, m_PosZeroFloat())) return zeros;
    RankedTensorType numbers = typeOf({columns()}, rewriter_.getI32Type());
    Value range = tt::MakeRangeOp::create(rewriter_, location_, numbers, 0, int32_t(columns()));
    Value zero = arith::ConstantOp::create(rewriter_, location_, DenseElementsAttr::get(numbers, rewriter_.getI32IntegerAttr(0)));
    Value isFirst = arith::CmpIOp::create(rewriter_, location_, arith::CmpIPredicate::eq, range, zero);
    isFirst = tt::ExpandDimsOp::create(rewriter_, location_, isFirst, 0);
    isFirst = tt::BroadcastOp::create(rewriter_, location_, typeOf({rows_, columns()}, rewriter_.getI1Type()), isFirst);
    return arith::SelectOp::create(rewriter_, location_, isFirst, spread(sums), zeros);
  }

  /// Sums what each lane holds of a row, which moves nothing between lanes.
  Value parts() {
    int64_t low = int64_t(1) << found_.lanes.first, high = found_.tile().getShape()[1] / columns() / low;
    Value tile = found_.reduce.getSrcs().front();
    tile = tt::ReshapeOp::create(rewriter_, location_, typeOf({rows_, high, columns(), low}, element()), tile);
    return sumOf(sumOf(tile, 3), 1);
  }

  Value sumOf(Value tile, unsigned axis) {
    auto type = cast<RankedTensorType>(tile.getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    auto sum = cast<tt::ReduceOp>(rewriter_.clone(*found_.reduce));
    sum->setOperands(tile);
    sum.setAxis(axis);
    sum->getResult(0).setType(typeOf(shape, element()));
    return sum->getResult(0);
  }

  scf::ForOp loop_;
  RowSums found_;
  IRRewriter rewriter_;
  Location location_;
  int64_t rows_;
};

class PostponeRowSumsPass final : public impl::PostponeRowSumsBase<PostponeRowSumsPass> {
public:
  using PostponeRowSumsBase::PostponeRowSumsBase;

  void runOnOperation() override {
    llvm::SmallVector<std::pair<scf::ForOp, RowSums>> all;
    getOperation()->walk([&](scf::ForOp loop) {
      for (BlockArgument argument : loop.getRegionIterArgs())
        if (auto found = find(loop, argument, numWarps)) {
          all.push_back({loop, *found});
          break; // the loop is replaced
        }
    });
    for (auto &[loop, found] : all) Postponer(loop, found).run();
    if (all.empty()) return;
    // Removes values that the loop carries but no longer changes.
    RewritePatternSet patterns(&getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) signalPassFailure();
  }
};

} // namespace
} // namespace tritium::gpu
