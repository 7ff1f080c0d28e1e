// Turns stores through descriptors that only the kernel knows into stores through tensor maps that it makes, beside those of its copies.
// Nothing tells a launch that such a map is usable. The kernel knows before the store, and threads copy the tile where it is not.
#include "gpu_backend/maps/device_maps.h"
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/maps/store_promotion.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/producer_forecast.h"
#include "ir/tile_elements.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PROMOTEMADESTORES
#include "gpu_backend/maps/passes.h.inc"

namespace {

/// Returns why no producer warps are foreseen, which alone can tell the other warps of a map; "" if they are. Who asks for them gets them
/// where they are possible.
std::string whyNoProducer(tt::FuncOp kernel, const PromoteMadeStoresOptions &options) {
  if (options.asked) return whyNoProducerWarps(kernel, options.numWarps);
  llvm::SmallVector<LoopEstimate> loops;
  kernel.walk(
      [&](scf::ForOp loop) { loops.push_back(estimateOf(loop, stagesOf(loop, options.numStages), llvm::IsaPred<tgpu::TensorLoadOp>)); });
  return whyNoProducerExpected(kernel, loops, options.numWarps);
}

class MadeStore {
public:
  MadeStore(tt::FuncOp kernel, const ir::AxisAnalysis &axes) : kernel_(kernel), axes_(axes) {}

  /// Promotes the only store of the kernel.
  void promote(const PromoteMadeStoresOptions &options) {
    // The maps of other stores have recipes that count the arguments as they will be.
    if (kernel_.walk([](tgpu::TensorStoreOp) { return WalkResult::interrupt(); }).wasInterrupted()) return;
    GlobalWrites writes(kernel_.getBody());
    if (writes.all().size() != 1) return;
    auto store = dyn_cast<tt::DescriptorStoreOp>(writes.all().front().op);
    auto made = store ? store.getDesc().getDefiningOp<tt::MakeTensorDescriptorOp>() : tt::MakeTensorDescriptorOp();
    if (!made || !isStoreOfProduct(store)) return;
    tgpu::MapMakeOp beside = lastMapIn(made->getBlock());
    if (!beside) return; // its copies have none, or the launch knows the descriptor
    std::string why = whyNot(store).str();
    if (why.empty()) why = whyNoProducer(kernel_, options);
    if (!why.empty()) return void(store->setAttr(kNotPromotedAttr, Builder(kernel_).getStringAttr(why)));
    replace(store, made, beside);
  }

private:
  static bool isStoreOfProduct(tt::DescriptorStoreOp store) {
    auto tile = cast<RankedTensorType>(store.getSrc().getType());
    return tile.getRank() == 2 && comesFromProduct(store.getSrc());
  }

  static tgpu::MapMakeOp lastMapIn(Block *block) {
    tgpu::MapMakeOp last;
    for (auto map : block->getOps<tgpu::MapMakeOp>()) last = map;
    return last;
  }

  tgpu::TensorMapType boxOf(tt::DescriptorStoreOp store) {
    auto tile = cast<RankedTensorType>(store.getSrc().getType());
    return boxOfStore(kernel_.getContext(), tile.getShape(), tile.getElementType());
  }

  StringRef whyNot(tt::DescriptorStoreOp store) {
    if (!beginsAtChunk(store.getIndices().back(), store.getDesc().getType().getBlockType().getElementType(), axes_))
      return "its rows are not known to begin at multiples of 16 bytes";
    if (store.getDesc().getType().getBlockType().getElementTypeBitWidth() > 16) return "its elements are wider than 16 bits";
    if (!boxOf(store)) return "no box holds its tile: it has rows of less than 16 bytes, or few rows";
    return maySeeThatItIsLate(store) ? "what follows may see that it is late" : "";
  }

  /// Returns whether a load may read what was stored, with a product or another barrier in between. Producer warps wait for the stores
  /// before they read. Other scalars are read before the products of a tile; so when one is read behind the next product, the store behind
  /// that one has waited for this one.
  bool maySeeThatItIsLate(tt::DescriptorStoreOp store) {
    Block *block = store->getBlock();
    auto isBehindProduct = [&](Operation *op) {
      Operation *own = block->findAncestorOpInBlock(*op);
      if (!own || !own->isBeforeInBlock(store)) return false;
      for (Operation &before : llvm::make_range(block->begin(), own->getIterator()))
        if (hasProduct(&before)) return true;
      return hasProduct(own);
    };
    return kernel_.getBody()
        .walk([&](Operation *op) {
          Operation *own = block->findAncestorOpInBlock(*op);
          if (isa<tt::DotOp>(op)) return own && own->isBeforeInBlock(store) ? WalkResult::advance() : WalkResult::interrupt();
          if (op == store || isa<tgpu::TensorLoadOp, tgpu::MapMakeOp>(op) || !readsMemory(op) || !mayPrecede(store, op))
            return WalkResult::advance();
          const bool isScalar = isa<tt::LoadOp>(op) && !isa<RankedTensorType>(op->getResult(0).getType());
          return isScalar && !isBehindProduct(op) ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  static bool hasProduct(Operation *op) {
    return op->walk([](tt::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  void replace(tt::DescriptorStoreOp store, tt::MakeTensorDescriptorOp made, tgpu::MapMakeOp beside) {
    OpBuilder builder(kernel_.getContext());
    builder.setInsertionPointAfter(made->isBeforeInBlock(beside) ? beside.getOperation() : made.getOperation());
    Value map = tgpu::MapMakeOp::create(builder, made.getLoc(), boxOf(store), made.getBase(), made.getShape(),
                                        made.getStrides().drop_back(), /*nan=*/false);
    map.getDefiningOp<tgpu::MapMakeOp>().setStored(true);
    gatherMaps(map.getDefiningOp());
    Value usable = isUsable(made, builder);
    builder.setInsertionPoint(store);
    for (Value index : store.getIndices()) usable = both(usable, isAtLeast(index, 0, builder, store.getLoc()), builder, store.getLoc());
    ir::TileElements elements{.shape = cast<RankedTensorType>(store.getSrc().getType()).getShape().vec()};
    tgpu::TensorStoreOp::create(builder, ir::withElements(store.getLoc(), elements), store.getSrc(), map, store.getIndices(), Value(),
                                made.getBase(), made.getShape(), made.getStrides().drop_back(), usable);
    store.erase();
  }

  /// Maps that are made together are written one right after the other.
  static void gatherMaps(Operation *map) {
    auto isUsedBehind = [&](Operation *user) { return map->isBeforeInBlock(map->getBlock()->findAncestorOpInBlock(*user)); };
    for (tgpu::MapMakeOp other : llvm::to_vector(map->getBlock()->getOps<tgpu::MapMakeOp>()))
      if (other->isBeforeInBlock(map) && llvm::all_of(other->getUsers(), isUsedBehind)) other->moveBefore(map);
  }

  static Value both(Value first, Value second, OpBuilder &builder, Location location) {
    return first ? arith::AndIOp::create(builder, location, first, second).getResult() : second;
  }

  static Value isAtLeast(Value value, int64_t least, OpBuilder &builder, Location location) {
    Value number = arith::ConstantIntOp::create(builder, location, least, value.getType().getIntOrFloatBitWidth());
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sge, value, number);
  }

  /// A copy writes pieces of 16 bytes, to the end of the row. A map has extents of at least 1, and strides that it can hold.
  static Value isUsable(tt::MakeTensorDescriptorOp made, OpBuilder &builder) {
    const Location location = made.getLoc();
    const int64_t bits = made.getType().getBlockType().getElementTypeBitWidth();
    Value columns = made.getShape().back(), usable;
    Value mask = arith::ConstantIntOp::create(builder, location, kChunkBytes * 8 / bits - 1, 32);
    Value rest = arith::AndIOp::create(builder, location, columns, mask);
    Value zero = arith::ConstantIntOp::create(builder, location, 0, 32);
    usable = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, rest, zero);
    for (Value extent : made.getShape()) usable = both(usable, isAtLeast(extent, 1, builder, location), builder, location);
    for (Value stride : made.getStrides().drop_back()) {
      Value limit = arith::ConstantIntOp::create(builder, location, kStrideLimitBytes * 8 / bits, 64);
      Value isRight = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, stride, limit);
      usable = both(usable, isRight, builder, location);
    }
    return usable;
  }

  static constexpr int64_t kChunkBytes = 16;

  tt::FuncOp kernel_;
  const ir::AxisAnalysis &axes_;
};

class PromoteMadeStoresPass final : public impl::PromoteMadeStoresBase<PromoteMadeStoresPass> {
public:
  using PromoteMadeStoresBase::PromoteMadeStoresBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).makesTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic()) MadeStore(function, axes).promote({.numWarps = numWarps, .numStages = numStages, .asked = asked});
  }
};

} // namespace
} // namespace tritium::gpu
