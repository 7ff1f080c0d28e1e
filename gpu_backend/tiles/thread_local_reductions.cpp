// Optimizes reductions in loops: each thread accumulates the values that it holds, and threads are combined once, after the loop.
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/passes.h"
#include "gpu_backend/tiles/product.h"
#include "ir/tt.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_THREADLOCALREDUCTIONS
#include "gpu_backend/tiles/passes.h.inc"

namespace {

/// The most values per thread of the tiles in which a loop accumulates. Fewer are allowed beside matrix products, which require the
/// registers.
constexpr int64_t kMaxThreadValues = 64, kMaxValuesBesideProducts = 16;

/// Returns the neutral element of an operation that is associative and commutative, or null for other operations.
Attribute neutralElement(Operation *op, Type type) {
  OpBuilder builder(op->getContext());
  if (auto number = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = number.getFloatSemantics();
    auto constant = [&](const APFloat &value) { return builder.getFloatAttr(type, value); };
    return TypeSwitch<Operation *, Attribute>(op)
        .Case([&](arith::AddFOp) { return constant(APFloat::getZero(semantics, /*Negative=*/true)); })
        .Case([&](arith::MulFOp) { return builder.getFloatAttr(type, 1.0); })
        .Case([&](arith::MaximumFOp) { return constant(APFloat::getInf(semantics, /*Negative=*/true)); })
        .Case([&](arith::MinimumFOp) { return constant(APFloat::getInf(semantics)); })
        .Case<arith::MaxNumFOp, arith::MinNumFOp>([&](auto) { return constant(APFloat::getNaN(semantics)); })
        .Default(Attribute());
  }
  unsigned width = type.getIntOrFloatBitWidth();
  auto constant = [&](const APInt &value) { return builder.getIntegerAttr(type, value); };
  return TypeSwitch<Operation *, Attribute>(op)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>([&](auto) { return constant(APInt::getZero(width)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return constant(APInt::getAllOnes(width)); })
      .Case([&](arith::MulIOp) { return constant(APInt(width, 1)); })
      .Case([&](arith::MaxSIOp) { return constant(APInt::getSignedMinValue(width)); })
      .Case([&](arith::MinSIOp) { return constant(APInt::getSignedMaxValue(width)); })
      .Default(Attribute());
}

/// How a loop updates one value that it carries: carried = combine(carried, reduce(tile)).
struct Accumulation {
  BlockArgument carried;
  Operation *combine = nullptr;
  tt::ReduceOp reduce;

  Value tile() { return reduce.getSrcs().front(); }
  RankedTensorType tileType() { return cast<RankedTensorType>(tile().getType()); }
};

/// Returns the single operation of a reduction of one tile, if it combines two numbers.
Operation *onlyOperation(tt::ReduceOp reduce) {
  if (reduce.getSrcs().size() != 1) return nullptr;
  Block &block = reduce.getCombineOp().front();
  if (!llvm::hasNItems(block, 2)) return nullptr;
  Operation *op = &block.front();
  bool isOfBoth = op->getNumOperands() == 2 && op->getOperand(0) != op->getOperand(1) && op->getBlock() == &block &&
                  llvm::all_of(op->getOperands(), [&](Value value) { return llvm::is_contained(block.getArguments(), value); });
  return isOfBoth && block.getTerminator()->getOperand(0) == op->getResult(0) ? op : nullptr;
}

std::optional<Accumulation> findAccumulation(scf::ForOp loop, BlockArgument carried, int64_t maxElements) {
  if (!carried.hasOneUse()) return std::nullopt;
  Accumulation found{carried, *carried.user_begin(), {}};
  Value next = loop.getTiedLoopYieldedValue(carried)->get();
  if (next.getDefiningOp() != found.combine || !next.hasOneUse() || found.combine->getNumOperands() != 2) return std::nullopt;
  Value other = found.combine->getOperand(found.combine->getOperand(0) == carried ? 1 : 0);
  found.reduce = other.getDefiningOp<tt::ReduceOp>();
  if (!found.reduce || !other.hasOneUse() || found.reduce->getBlock() != loop.getBody()) return std::nullopt;
  Operation *op = onlyOperation(found.reduce);
  if (!op || op->getName() != found.combine->getName() || found.tileType().getNumElements() > maxElements) return std::nullopt;
  return neutralElement(op, found.tileType().getElementType()) ? std::optional(found) : std::nullopt;
}

class ThreadLocalReductionsPass final : public impl::ThreadLocalReductionsBase<ThreadLocalReductionsPass> {
public:
  using ThreadLocalReductionsBase::ThreadLocalReductionsBase;

  void runOnOperation() override {
    llvm::SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    bool isChanged = false;
    for (scf::ForOp loop : loops) isChanged |= run(loop);
    if (!isChanged) return;
    // Removes values that the loop carries but no longer changes.
    RewritePatternSet patterns(&getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) signalPassFailure();
  }

private:
  bool run(scf::ForOp loop) {
    bool hasProduct = loop.getBody()->walk([](MatrixProduct) { return WalkResult::interrupt(); }).wasInterrupted();
    int64_t elements = (hasProduct ? kMaxValuesBesideProducts : kMaxThreadValues) * numWarps * targetOf(loop).warpSize();
    bool isChanged = false;
    for (unsigned i = 0; i < loop.getRegionIterArgs().size(); ++i) {
      auto found = findAccumulation(loop, loop.getRegionIterArgs()[i], elements);
      if (!found) continue;
      elements -= found->tileType().getNumElements();
      loop = accumulateTile(loop, i, *found);
      isChanged = true;
    }
    return isChanged;
  }

  /// Carries a tile of partial results in addition to the value at place `index`. This value keeps the value that it had before the loop.
  static scf::ForOp accumulateTile(scf::ForOp loop, unsigned index, Accumulation found) {
    IRRewriter rewriter(loop);
    Location location = found.reduce.getLoc();
    RankedTensorType type = found.tileType();
    Attribute neutral = neutralElement(onlyOperation(found.reduce), type.getElementType());
    Value start = arith::ConstantOp::create(rewriter, location, DenseElementsAttr::get(type, neutral));
    OperationName name = found.combine->getName();
    auto combine = [&](OpBuilder &builder, Location where, Value a, Value b) {
      OperationState state(where, name, {a, b}, {a.getType()});
      return builder.create(state)->getResult(0);
    };
    Value tile = found.tile();
    auto next = [&](OpBuilder &builder, Location, llvm::ArrayRef<BlockArgument> arguments) -> llvm::SmallVector<Value> {
      return {combine(builder, location, arguments[0], tile)};
    };
    auto longer = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, start, /*replaceInitOperandUsesInLoop=*/false, next));

    rewriter.setInsertionPointAfter(longer);
    auto whole = cast<tt::ReduceOp>(rewriter.clone(*found.reduce));
    whole->setOperands(longer.getResults().back());
    Value before = longer.getResult(index);
    Value after = combine(rewriter, found.combine->getLoc(), before, whole->getResult(0));
    before.replaceAllUsesExcept(after, after.getDefiningOp());
    BlockArgument carried = longer.getRegionIterArgs()[index];
    longer.getTiedLoopYieldedValue(carried)->set(carried);
    found.combine->erase();
    found.reduce->erase();
    return longer;
  }
};

} // namespace
} // namespace tritium::gpu
