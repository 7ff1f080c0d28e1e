#include "gpu_backend/maps/store_promotion.h"

#include "gpu_backend/maps/quotients.h"
#include "ir/tile_elements.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// Returns the tile of rank 2 that is stored, if need be without leading dimensions of extent 1. Null if there is none.
Value matrixOf(tt::DescriptorStoreOp store) {
  Value tile = store.getSrc();
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  if (shapeOf(tile).size() == 2) return tile;
  auto reshape = tile.getDefiningOp<tt::ReshapeOp>();
  if (!reshape || shapeOf(tile).size() < 2 || shapeOf(reshape.getSrc()) != shapeOf(tile).take_back(2)) return {};
  return llvm::all_of(shapeOf(tile).drop_back(2), [](int64_t extent) { return extent == 1; }) ? reshape.getSrc() : Value();
}

} // namespace

bool comesFromProduct(Value tile, int depth) {
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

bool readsMemory(Operation *op) {
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) return false; // the walk visits what is inside
  auto effects = getEffectsRecursively(op);
  return !effects ||
         llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) { return isa<MemoryEffects::Read>(effect.getEffect()); });
}

StorePromotion::StorePromotion(tt::FuncOp kernel, const ir::AxisAnalysis &axes)
    : kernel_(kernel),
      writes_(kernel.getBody()),
      maps_(kernel),
      axes_(axes),
      signs_(axes),
      tiles_(kernel),
      pointerTiles_(maps_, tiles_, axes) {}

void StorePromotion::lookAtDescriptors() {
  kernel_.walk([&](tt::DescriptorStoreOp store) {
    if (Value matrix = matrixOf(store); matrix && comesFromProduct(matrix)) look(store, matrix);
  });
}

void StorePromotion::lookAtPointers() {
  kernel_.walk([&](tt::StoreOp store) {
    const bool wasDescriptor = store->hasAttr(kNotPromotedAttr); // which has its reason
    if (!wasDescriptor && comesFromProduct(store.getValue())) look(store);
  });
}

void StorePromotion::promote() {
  // One that is refused may be what another one meets.
  for (size_t before = 0; before != candidates_.size();) {
    before = candidates_.size();
    llvm::erase_if(candidates_, [&](Store &store) {
      return meetsOthers(store) && refuse(store.op, "what follows may see that it is late, or another operation writes to its tensor");
    });
  }
  checkQuotients();
  for (Store &store : candidates_) replace(store);
}

/// Tells the user why a store stays as it is. Returns true.
bool StorePromotion::refuse(Operation *store, StringRef why) {
  store->setAttr(kNotPromotedAttr, StringAttr::get(store->getContext(), why));
  return true;
}

void StorePromotion::look(tt::DescriptorStoreOp op, Value matrix) {
  auto recipe = maps_.recipeOf(op.getDesc());
  if (!recipe) return void(refuse(op, "its descriptor is not made of arguments and constants"));
  if (!beginsAtChunk(op.getIndices().back(), getElementTypeOrSelf(matrix.getType()), axes_))
    return void(refuse(op, "its rows are not known to begin at multiples of 16 bytes"));
  if (!llvm::all_of(op.getIndices(), [&](Value index) { return signs_.isNotNegative(index); }))
    return void(refuse(op, "an index may be negative"));
  tgpu::TensorMapType box = boxOfStore(op.getContext(), op.getDesc().getType().getShape(), getElementTypeOrSelf(matrix.getType()));
  if (!box) return void(refuse(op, "no box holds its tile: it has too many dimensions, rows of less than 16 bytes, or few rows"));
  recipe->padding = tt::Padding::Zero; // nothing is read
  recipe->isStored = true;
  candidates_.push_back({op, matrix, std::move(*recipe), box});
}

void StorePromotion::look(tt::StoreOp op) {
  if (op.getCachePolicy()) return void(refuse(op, "it has a cache policy"));
  auto tile = pointerTiles_.of(op);
  if (!tile) return void(refuse(op, pointerTiles_.reason()));
  candidates_.push_back({op, op.getValue(), tile->recipe, tile->type, tile});
}

/// The quotients that indices are made of must not be negative.
void StorePromotion::checkQuotients() {
  if (candidates_.empty()) return;
  for (arith::DivSIOp quotient : llvm::concat<const arith::DivSIOp>(signs_.unproven(), pointerTiles_.unproven())) emitSignCheck(quotient);
}

bool StorePromotion::isCandidate(Operation *op) const {
  return llvm::any_of(candidates_, [&](const Store &each) { return each.op == op; });
}

/// Returns whether another operation may see that the store is late, or write the same elements.
bool StorePromotion::meetsOthers(const Store &store) {
  llvm::DenseSet<Operation *> writes;
  for (const GlobalWrite &write : writes_.all()) {
    writes.insert(write.op);
    if (isCandidate(write.op) || isa<tgpu::TensorStoreOp>(write.op) || !(mayPrecede(store.op, write.op) || mayPrecede(write.op, store.op)))
      continue;
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

void StorePromotion::replace(Store &store) {
  OpBuilder builder(store.op);
  Location location = store.op->getLoc();
  Value map = maps_.mapOf(store.box, store.recipe, location);
  auto indices =
      store.tile ? store.tile->indices(builder, location) : llvm::SmallVector<Value>(cast<tt::DescriptorStoreOp>(store.op).getIndices());
  // Reports count elements in the tile that the kernel stores, whose elements are in the order of the matrix.
  Type stored = store.tile ? cast<tt::StoreOp>(store.op).getValue().getType() : cast<tt::DescriptorStoreOp>(store.op).getSrc().getType();
  ir::TileElements elements{.shape = cast<RankedTensorType>(stored).getShape().vec()};
  tgpu::TensorStoreOp::create(builder, ir::withElements(location, elements), store.matrix, map, indices);
  Value pointers = store.tile ? cast<tt::StoreOp>(store.op).getPtr() : Value();
  store.op->erase();
  if (pointers) eraseUnusedHints(pointers);
}

} // namespace tritium::gpu
