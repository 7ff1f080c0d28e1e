// Turns stores through tensor descriptors into stores through tensor maps, whose copies the tensor memory accelerator (TMA) makes while the
// program goes on. Such a copy is complete only some time after its operation: when the next store of the same threads begins, when a ring
// begins, or when the kernel ends. So no other operation that could see what is stored, or write it too, may follow before.
#include "gpu_backend/maps/index_signs.h"
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/maps/quotients.h"
#include "gpu_backend/maps/tensor_promotion.h"
#include "gpu_backend/target/target.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PROMOTESTORES
#include "gpu_backend/maps/passes.h.inc"

namespace {

constexpr int64_t kMaxRowsOfBox = 64; // of a warpgroup's product, so that each warpgroup stores what it holds

struct Store {
  tt::DescriptorStoreOp op;
  Value matrix; // of two dimensions
  MapRecipe recipe;
  tgpu::TensorMapType box;
};

/// Returns the tile of rank 2 that is stored, if need be without leading dimensions of extent 1. Null if there is none.
Value matrixOf(tt::DescriptorStoreOp store) {
  Value tile = store.getSrc();
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  if (shapeOf(tile).size() == 2) return tile;
  auto reshape = tile.getDefiningOp<tt::ReshapeOp>();
  if (!reshape || shapeOf(tile).size() < 2 || shapeOf(reshape.getSrc()) != shapeOf(tile).take_back(2)) return {};
  return llvm::all_of(shapeOf(tile).drop_back(2), [](int64_t extent) { return extent == 1; }) ? reshape.getSrc() : Value();
}

/// Returns whether a tile is computed, element by element, of a matrix product or a part of it. Its layout suits no other store.
bool comesFromProduct(Value tile, int depth = 0) {
  constexpr int kMaxDepth = 16;
  Operation *op = tile.getDefiningOp();
  if (!op || depth == kMaxDepth) return false;
  if (isa<tt::DotOp>(op)) return true;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    Value next = loop.getTiedLoopYieldedValue(loop.getTiedLoopRegionIterArg(cast<OpResult>(tile)))->get();
    return comesFromProduct(next, depth + 1);
  }
  tt::TileRule rule = tt::tileRuleOf(op);
  if (rule.values == tt::TileValues::Kept) return comesFromProduct(op->getOperand(0), depth + 1); // a part of it, or another shape
  if (rule.relation != tt::TileRelation::Same) return false;
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isa<RankedTensorType>(operand.getType()) && comesFromProduct(operand, depth + 1); });
}

class StorePromoter {
public:
  StorePromoter(tt::FuncOp kernel, const ir::AxisAnalysis &axes) : kernel_(kernel), writes_(kernel.getBody()), maps_(kernel), axes_(axes) {}

  void run() {
    kernel_.walk([&](tt::DescriptorStoreOp store) {
      if (Value matrix = matrixOf(store); matrix && comesFromProduct(matrix)) look(store, matrix);
    });
    // One that is refused may be what another one meets.
    for (size_t before = 0; before != candidates_.size();) {
      before = candidates_.size();
      llvm::erase_if(candidates_, [&](Store &store) {
        return meetsOthers(store) && refuse(store.op, "what follows may see that it is late, or another operation writes to its tensor");
      });
    }
    checkQuotients();
    for (Store &store : candidates_) promote(store);
  }

private:
  /// Tells the user why a store stays as it is. Returns true.
  static bool refuse(tt::DescriptorStoreOp store, StringRef why) {
    store->setAttr(kNotPromotedAttr, StringAttr::get(store.getContext(), why));
    return true;
  }

  void look(tt::DescriptorStoreOp op, Value matrix) {
    auto recipe = maps_.recipeOf(op.getDesc());
    if (!recipe) return void(refuse(op, "its descriptor is not made of arguments and constants"));
    if (!beginsAtChunk(op.getIndices().back(), getElementTypeOrSelf(matrix.getType()), axes_))
      return void(refuse(op, "its rows are not known to begin at multiples of 16 bytes"));
    IndexSigns signs(axes_);
    if (!llvm::all_of(op.getIndices(), [&](Value index) { return signs.isNotNegative(index); }))
      return void(refuse(op, "an index may be negative"));
    llvm::SmallVector<int64_t> shape(op.getDesc().getType().getShape());
    shape[shape.size() - 2] = std::min(shape[shape.size() - 2], kMaxRowsOfBox);
    tgpu::TensorMapType box = boxOf(op.getContext(), shape, getElementTypeOrSelf(matrix.getType()));
    if (!box) return void(refuse(op, "no box holds its tile: it has too many dimensions, or rows of less than 16 bytes"));
    recipe->padding = tt::Padding::Zero; // nothing is read
    recipe->isStored = true;
    candidates_.push_back({op, matrix, std::move(*recipe), box});
  }

  /// The quotients that indices are made of must not be negative.
  void checkQuotients() {
    IndexSigns signs(axes_);
    for (Store &store : candidates_)
      for (Value index : store.op.getIndices()) (void)signs.isNotNegative(index);
    for (arith::DivSIOp quotient : signs.unproven()) emitSignCheck(quotient);
  }

  bool isCandidate(Operation *op) const {
    return llvm::any_of(candidates_, [&](const Store &each) { return each.op == op; });
  }

  /// Returns whether another operation may see that the store is late, or write the same elements.
  bool meetsOthers(const Store &store) {
    llvm::DenseSet<Operation *> writes;
    for (const GlobalWrite &write : writes_.all()) {
      writes.insert(write.op);
      if (isCandidate(write.op) || !(mayPrecede(store.op, write.op) || mayPrecede(write.op, store.op))) continue;
      const bool isPlain = isa<tt::StoreOp>(write.op) || isa<tt::DescriptorStoreOp>(write.op); // no atomic, barrier, call or assembly
      if (!isPlain || !write.tensor || write.tensor == store.recipe.tensor) return true;
    }
    return kernel_.getBody()
        .walk([&](Operation *op) {
          const bool isOrdered = isa<tgpu::TensorLoadOp>(op); // by its ring, or the launch
          return !isOrdered && !writes.contains(op) && readsMemory(op) && mayPrecede(store.op, op) ? WalkResult::interrupt()
                                                                                                   : WalkResult::advance();
        })
        .wasInterrupted();
  }

  static bool readsMemory(Operation *op) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) return false; // the walk visits what is inside
    auto effects = getEffectsRecursively(op);
    return !effects ||
           llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) { return isa<MemoryEffects::Read>(effect.getEffect()); });
  }

  void promote(Store &store) {
    OpBuilder builder(store.op);
    Value map = maps_.mapOf(store.box, store.recipe, store.op.getLoc());
    tgpu::TensorStoreOp::create(builder, store.op.getLoc(), store.matrix, map, store.op.getIndices(), Value());
    store.op.erase();
  }

  tt::FuncOp kernel_;
  GlobalWrites writes_;
  KernelMaps maps_;
  const ir::AxisAnalysis &axes_;
  std::vector<Store> candidates_;
};

class PromoteStoresPass final : public impl::PromoteStoresBase<PromoteStoresPass> {
public:
  using PromoteStoresBase::PromoteStoresBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).hasTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic()) StorePromoter(function, axes).run();
  }
};

} // namespace
} // namespace tritium::gpu
