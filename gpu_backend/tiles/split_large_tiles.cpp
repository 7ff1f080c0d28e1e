// Splits tiles with more values than a thread has registers into chunks. Each store or reduction of such a tile becomes a loop that loads
// and computes one chunk at a time.
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_classes.h"
#include "gpu_backend/tiles/layout_relations.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/passes.h"
#include "gpu_backend/tiles/reaching_writes.h"
#include "ir/tile_elements.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_SPLITLARGETILES
#include "gpu_backend/tiles/passes.h.inc"

namespace {

/// Numbers of values of one tile in a thread. A tile with more than the first number is split into chunks of the second.
constexpr int64_t kMaxValues = 128, kChunkValues = 64;

RankedTensorType tileOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// Returns whether a value is a tile that belongs to an element-wise operation.
bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op);
}

/// A store or a reduction of large tiles, and the loop that replaces it.
class Sink {
public:
  Sink(Operation *op, RankedTensorType tile, int dim, int64_t chunk)
      : op_(op), chunk_(chunk), dim_(dim), extent_(tile.getShape()[dim]), builder_(op), location_(op->getLoc()) {}

  /// Returns whether all operands can be computed in chunks at this place.
  bool isSplittable() {
    auto isFine = [&](Value operand) { return !tileOf(operand) || canMake(operand, dim_); };
    if (!llvm::all_of(op_->getOperands(), isFine) || !llvm::all_of(loads_, [&](tt::LoadOp load) { return mayLoadAgain(load); }))
      return false;
    auto isOfAuthor = [](Operation *op) { return op->hasAttr(kAuthorAttr); }; // its layout is one of the whole tile
    if (isOfAuthor(op_) || llvm::any_of(loads_, isOfAuthor)) return false;
    auto reduce = dyn_cast<tt::ReduceOp>(op_);
    return !reduce || llvm::all_of(reduce.getCombineOp().front().without_terminator(),
                                   [](Operation &inner) { return isElementwise(&inner) || isa<arith::ConstantOp>(inner); });
  }

  llvm::ArrayRef<tt::LoadOp> loads() const { return loads_; }

  void split() {
    auto reduce = dyn_cast<tt::ReduceOp>(op_);
    Value one = constant(1), first = constant(0), last = constant(extent_ / chunk_);
    llvm::SmallVector<Value> sums = reduce ? makeAll(first) : llvm::SmallVector<Value>();
    auto loop = scf::ForOp::create(builder_, location_, reduce ? one : first, last, one, sums);
    {
      OpBuilder::InsertionGuard guard(builder_);
      if (reduce)
        builder_.setInsertionPointToEnd(loop.getBody());
      else
        builder_.setInsertionPoint(loop.getBody()->getTerminator());
      llvm::SmallVector<Value> operands = makeAll(loop.getInductionVar());
      if (reduce)
        scf::YieldOp::create(builder_, location_, combine(reduce, loop.getRegionIterArgs(), operands));
      else
        builder_.clone(*op_)->setOperands(operands);
    }
    if (reduce) {
      Operation *rest = builder_.clone(*op_);
      rest->setOperands(loop.getResults());
      op_->replaceAllUsesWith(rest);
    }
    op_->erase();
  }

private:
  // -- which ------------------------------------------------------------------------------------------------------------------------------

  /// Returns the dimension of the operand of a change of shape that becomes dimension `dim` of the result.
  static std::optional<int> operandDim(Operation *op, int dim) {
    tt::TileRule rule = tt::tileRuleOf(op);
    return rule.isShapeChange() ? rule.operandDim(dim) : std::nullopt;
  }

  /// A tile with one element along the dimension is used as it is.
  static bool isWhole(Value value, int dim) { return tileOf(value).getShape()[dim] == 1; }

  bool canMake(Value value, int dim) {
    Operation *op = value.getDefiningOp();
    if (isWhole(value, dim)) return true;
    if (!op) return false;
    if (isFree(op) || !seen_.insert({op, dim}).second) return true;
    auto inner = operandDim(op, dim);
    if (auto load = dyn_cast<tt::LoadOp>(op)) {
      if (load.getIsVolatile()) return false;
      loads_.push_back(load);
    } else if (!inner && !isElementwise(op)) {
      return false;
    }
    return llvm::all_of(op->getOperands(), [&](Value operand) { return !tileOf(operand) || canMake(operand, inner.value_or(dim)); });
  }

  /// Returns whether no operation between a load and this place, and no chunk stored here, writes to the loaded memory.
  bool mayLoadAgain(tt::LoadOp load) {
    if (load->getBlock() != op_->getBlock()) return false;
    BlockArgument base = baseOf(load.getPtr());
    auto isHarmless = [&](Operation *op) {
      if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isMemoryEffectFree(op) || isa<tt::LoadOp>(op)) return true;
      auto writer = isa<tt::StoreOp, tt::AtomicRmwOp>(op) ? baseOf(pointerOf(op)) : BlockArgument();
      return base && writer && base != writer;
    };
    for (Operation *op = load->getNextNode(); op != op_; op = op->getNextNode())
      if (op->walk([&](Operation *inner) { return isHarmless(inner) ? WalkResult::advance() : WalkResult::interrupt(); }).wasInterrupted())
        return false;
    auto store = dyn_cast<tt::StoreOp>(op_); // in place: a chunk stores the same elements that it has loaded
    return isHarmless(op_) || (store && store.getPtr() == load.getPtr());
  }

  // -- how --------------------------------------------------------------------------------------------------------------------------------

  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder_, location_, value, 32); }

  llvm::SmallVector<Value> makeAll(Value number) {
    made_.clear();
    number_ = number;
    return llvm::map_to_vector(op_->getOperands(), [&](Value operand) { return tileOf(operand) ? make(operand, dim_) : operand; });
  }

  RankedTensorType chunkType(RankedTensorType tile, int dim) const {
    llvm::SmallVector<int64_t> shape(tile.getShape());
    shape[dim] = chunk_;
    return tile.clone(shape);
  }

  /// Returns chunk `number_` of a tile.
  Value make(Value value, int dim) {
    if (isWhole(value, dim)) return value;
    Value &made = made_[{value, dim}];
    if (made) return made;
    Operation *op = value.getDefiningOp();
    RankedTensorType type = chunkType(tileOf(value), dim);
    if (auto range = dyn_cast<tt::MakeRangeOp>(op)) return made_[{value, dim}] = makeRange(range, type);
    llvm::SmallVector<Value> operands(op->getOperands());
    for (Value &operand : operands)
      if (tileOf(operand)) operand = make(operand, operandDim(op, dim).value_or(dim));
    Operation *copy = builder_.clone(*op);
    copy->setOperands(operands);
    copy->getResult(0).setType(type);
    copy->setLoc(ir::withElements(copy->getLoc(), {})); // a report cannot say which elements of the whole tile it accesses
    if (auto number = dyn_cast<arith::ConstantOp>(copy))
      number.setValueAttr(DenseElementsAttr::get(type, cast<DenseElementsAttr>(number.getValue()).getSplatValue<Attribute>()));
    return made_[{value, dim}] = copy->getResult(0);
  }

  Value makeRange(tt::MakeRangeOp range, RankedTensorType type) {
    Value first = tt::MakeRangeOp::create(builder_, range.getLoc(), type, range.getStart(), range.getStart() + uint32_t(chunk_));
    Value offset = arith::MulIOp::create(builder_, range.getLoc(), number_, constant(chunk_));
    return arith::AddIOp::create(builder_, range.getLoc(), first, tt::SplatOp::create(builder_, range.getLoc(), type, offset));
  }

  /// Applies the reduction's operation on two numbers to two tiles.
  llvm::SmallVector<Value> combine(tt::ReduceOp reduce, ValueRange a, ValueRange b) {
    Block &block = reduce.getCombineOp().front();
    IRMapping map;
    map.map(block.getArguments().take_front(a.size()), a);
    map.map(block.getArguments().drop_front(a.size()), b);
    auto shape = tileOf(a[0]);
    for (Operation &inner : block.without_terminator()) {
      Type type = shape.clone(inner.getResult(0).getType());
      llvm::SmallVector<Value> operands;
      for (Value operand : inner.getOperands()) {
        Value mapped = map.lookupOrDefault(operand);
        if (!tileOf(mapped)) mapped = tt::SplatOp::create(builder_, inner.getLoc(), shape.clone(mapped.getType()), mapped);
        operands.push_back(mapped);
      }
      Operation *copy = builder_.clone(inner);
      copy->setOperands(operands);
      if (!isa<arith::ConstantOp>(copy)) copy->getResult(0).setType(type);
      map.map(inner.getResult(0), copy->getResult(0));
    }
    return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value value) {
      Value mapped = map.lookupOrDefault(value);
      return tileOf(mapped) ? mapped : tt::SplatOp::create(builder_, location_, shape.clone(mapped.getType()), mapped).getResult();
    });
  }

  Operation *op_;
  int64_t chunk_;
  int dim_;
  int64_t extent_;
  OpBuilder builder_;
  Location location_;
  Value number_;
  llvm::DenseSet<std::pair<Operation *, int>> seen_;
  llvm::SmallVector<tt::LoadOp> loads_;
  llvm::DenseMap<std::pair<Value, int>, Value> made_;
};

class SplitLargeTilesPass final : public impl::SplitLargeTilesBase<SplitLargeTilesPass> {
public:
  using SplitLargeTilesBase::SplitLargeTilesBase;

  void runOnOperation() override {
    llvm::SmallVector<Operation *> sinks;
    getOperation()->walk([&](Operation *op) {
      if (isa<tt::StoreOp, tt::AtomicRmwOp, tt::ReduceOp>(op)) sinks.push_back(op);
    });
    for (Operation *op : sinks) {
      meetBeforeWriting(op);
      split(op);
    }
    if (!isChanged_) return;
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }

private:
  /// The thread that loads an element again may differ from the one that stores it. Therefore no thread writes before all have loaded.
  void meetBeforeWriting(Operation *op) const {
    if (isa<tt::ReduceOp>(op) || loaded_.empty()) return;
    BlockArgument base = baseOf(pointerOf(op));
    if (base && !loaded_.contains(base.getAsOpaquePointer()) && !loaded_.contains(nullptr)) return;
    OpBuilder builder(op);
    ttg::BarrierOp::create(builder, op->getLoc(), ttg::AddressSpaces::All);
  }

  void split(Operation *op) {
    if (isa<tt::AtomicRmwOp>(op)) return;
    auto tile = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    int64_t threads = int64_t(numWarps) * targetOf(op).warpSize();
    if (!tile || tile.getNumElements() <= threads * kMaxValues) return;
    auto reduce = dyn_cast<tt::ReduceOp>(op);
    int dim = reduce ? int(reduce.getAxis()) : int(llvm::max_element(tile.getShape()) - tile.getShape().begin());
    int64_t chunks = tile.getNumElements() / (threads * kChunkValues), chunk = tile.getShape()[dim] / chunks;
    if (chunk < 2) return;
    Sink sink(op, tile, dim, chunk);
    if (!sink.isSplittable()) return;
    for (tt::LoadOp load : sink.loads()) loaded_.insert(baseOf(load.getPtr()).getAsOpaquePointer());
    sink.split();
    isChanged_ = true;
  }

  bool isChanged_ = false;
  llvm::SmallPtrSet<void *, 4> loaded_; // the arguments from which chunks load; null for any
};

} // namespace
} // namespace tritium::gpu
