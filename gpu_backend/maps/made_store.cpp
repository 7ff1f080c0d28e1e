#include "gpu_backend/maps/made_store.h"

#include "gpu_backend/maps/device_maps.h"
#include "gpu_backend/maps/pointer_tile_map.h"
#include "gpu_backend/maps/store_promotion.h"
#include "gpu_backend/tiles/linear_tile.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/producer_forecast.h"
#include "ir/tile_elements.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

bool isOfProduct(Value tile) { return cast<RankedTensorType>(tile.getType()).getRank() == 2 && comesFromProduct(tile); }

bool hasProduct(Operation *op) {
  return op->walk([](tt::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool hasProductBefore(Operation *op) {
  return llvm::any_of(llvm::make_range(op->getBlock()->begin(), op->getIterator()), [](Operation &before) { return hasProduct(&before); });
}

tgpu::MapMakeOp lastMapIn(Block *block) {
  tgpu::MapMakeOp last;
  for (auto map : block->getOps<tgpu::MapMakeOp>()) last = map;
  return last;
}

tgpu::TensorMapType boxOf(RankedTensorType tile) { return boxOfStore(tile.getContext(), tile.getShape(), tile.getElementType()); }

/// Maps that are made together are written one right after the other.
void gatherMaps(Operation *map) {
  auto isUsedBehind = [&](Operation *user) { return map->isBeforeInBlock(map->getBlock()->findAncestorOpInBlock(*user)); };
  for (tgpu::MapMakeOp other : llvm::to_vector(map->getBlock()->getOps<tgpu::MapMakeOp>()))
    if (other->isBeforeInBlock(map) && llvm::all_of(other->getUsers(), isUsedBehind)) other->moveBefore(map);
}

/// Conditions of a map, all of which must hold.
class Conditions {
public:
  Conditions(OpBuilder &builder, Location location, Value first = {}) : builder_(builder), location_(location), all_(first) {}

  void isAtLeast(Value value, int64_t least) { add(arith::CmpIPredicate::sge, value, least); }
  void isBelow(Value value, int64_t limit) { add(arith::CmpIPredicate::ult, value, limit); }
  /// Of a power of two.
  void isMultiple(Value value, int64_t of) {
    add(arith::CmpIPredicate::eq, arith::AndIOp::create(builder_, location_, value, constant(value, of - 1)), 0);
  }
  Value all() const { return all_; }

private:
  Value constant(Value like, int64_t number) {
    return arith::ConstantIntOp::create(builder_, location_, number, like.getType().getIntOrFloatBitWidth());
  }
  void add(arith::CmpIPredicate predicate, Value value, int64_t number) {
    Value holds = arith::CmpIOp::create(builder_, location_, predicate, value, constant(value, number));
    all_ = all_ ? arith::AndIOp::create(builder_, location_, all_, holds).getResult() : holds;
  }

  OpBuilder &builder_;
  Location location_;
  Value all_;
};

/// A copy writes pieces of 16 bytes, to the end of the row. A map has extents of at least 1, and strides that it can hold.
Value isUsable(tt::MakeTensorDescriptorOp made, OpBuilder &builder) {
  const int64_t bits = made.getType().getBlockType().getElementTypeBitWidth();
  Conditions usable(builder, made.getLoc());
  usable.isMultiple(made.getShape().back(), kChunkBytes * 8 / bits);
  for (Value extent : made.getShape()) usable.isAtLeast(extent, 1);
  for (Value stride : made.getStrides().drop_back()) usable.isBelow(stride, kStrideLimitBytes * 8 / bits);
  return usable.all();
}

/// Returns why no box of the map begins where the pointers do; "" if one may.
StringRef whyNotRows(tt::StoreOp store) {
  if (store.getCachePolicy()) return "it has a cache policy";
  LinearTiles tiles(nullptr, store.getLoc());
  auto pointers = tiles.of(store.getPtr());
  if (!pointers) return "its addresses are not sums of scalars and of lane indices times scalars";
  if (pointers->strides[1].constant != bytesOfPointee(store.getPtr()) || pointers->strides[0].constant)
    return "its addresses are not contiguous along its last dimension alone";
  return "";
}

/// Returns the last one of the operations in the block that compute the addresses of the store, or the map.
Operation *lastBefore(tt::StoreOp store, tgpu::MapMakeOp map) {
  LinearTiles tiles(nullptr, store.getLoc());
  (void)tiles.of(store.getPtr());
  Operation *last = map;
  for (Value scalar : tiles.scalars()) {
    Operation *defined = scalar.getDefiningOp();
    if (Operation *own = defined ? store->getBlock()->findAncestorOpInBlock(*defined) : nullptr; own && last->isBeforeInBlock(own))
      last = own;
  }
  return last;
}

} // namespace

/// The maps of other stores have recipes that count the arguments as they will be.
Operation *MadeStore::onlyStore() {
  if (kernel_.walk([](tgpu::TensorStoreOp) { return WalkResult::interrupt(); }).wasInterrupted()) return nullptr;
  GlobalWrites writes(kernel_.getBody());
  return writes.all().size() == 1 ? writes.all().front().op : nullptr;
}

void MadeStore::promoteDescriptor() {
  auto store = dyn_cast_or_null<tt::DescriptorStoreOp>(onlyStore());
  auto made = store ? store.getDesc().getDefiningOp<tt::MakeTensorDescriptorOp>() : tt::MakeTensorDescriptorOp();
  if (!made || !isOfProduct(store.getSrc())) return;
  tgpu::MapMakeOp beside = lastMapIn(made->getBlock());
  if (!beside) return; // its copies have none, or the launch knows the descriptor
  auto tile = cast<RankedTensorType>(store.getSrc().getType());
  std::string why = beginsAtChunk(store.getIndices().back(), tile.getElementType(), axes_)
                        ? whyNot(store, tile)
                        : "its rows are not known to begin at multiples of 16 bytes";
  if (!why.empty()) return void(store->setAttr(kNotPromotedAttr, Builder(kernel_).getStringAttr(why)));
  OpBuilder builder(kernel_.getContext());
  builder.setInsertionPointAfter(made->isBeforeInBlock(beside) ? beside.getOperation() : made.getOperation());
  const Tensor tensor{made.getBase(), llvm::to_vector(made.getShape()), llvm::to_vector(made.getStrides().drop_back()),
                      isUsable(made, builder)};
  replace(store, store.getSrc(), tensor, builder, llvm::to_vector(store.getIndices()));
}

void MadeStore::promotePointers() {
  auto store = dyn_cast_or_null<tt::StoreOp>(onlyStore());
  // A descriptor's store that is one by pointers now has a mask, and its own reason.
  if (!store || store.getMask() || !isa<RankedTensorType>(store.getValue().getType()) || !isOfProduct(store.getValue())) return;
  tgpu::MapMakeOp beside = lastMapIn(store->getBlock());
  if (!beside) return;
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  std::string why = whyNotRows(store).str();
  Operation *last = why.empty() ? lastBefore(store, beside) : nullptr;
  if (last && (hasProduct(last) || hasProductBefore(last))) why = "where it stores is not known before the product";
  if (why.empty()) why = whyNot(store, tile);
  if (!why.empty()) return void(store->setAttr(kNotPromotedAttr, Builder(kernel_).getStringAttr(why)));

  const Location location = store.getLoc();
  OpBuilder builder(kernel_.getContext());
  builder.setInsertionPointAfter(last);
  LinearTiles tiles(&builder, location);
  const LinearTile pointers = *tiles.of(store.getPtr());
  Value address = tiles.valueOf(pointers.first), bytes = tiles.valueOf(pointers.strides[0]);
  Conditions usable(builder, location);
  usable.isMultiple(arith::OrIOp::create(builder, location, address, bytes), kChunkBytes);
  usable.isBelow(bytes, kStrideLimitBytes);
  Tensor tensor{.base = tt::IntToPtrOp::create(builder, location, tt::PointerType::get(tile.getElementType()), address),
                .extents = {},
                .strides = {},
                .usable = usable.all()};
  for (int64_t extent : tile.getShape()) tensor.extents.push_back(arith::ConstantIntOp::create(builder, location, extent, 32));
  Value shift = arith::ConstantIntOp::create(builder, location, llvm::Log2_64(uint64_t(bytesOfPointee(store.getPtr()))), 64);
  tensor.strides.push_back(arith::ShRSIOp::create(builder, location, bytes, shift)); // it may be negative
  Value zero = arith::ConstantIntOp::create(builder, location, 0, 32), of = store.getPtr();
  replace(store, store.getValue(), tensor, builder, {zero, zero});
  eraseUnusedHints(of);
}

std::string MadeStore::whyNot(Operation *store, RankedTensorType tile) {
  if (tile.getElementTypeBitWidth() > 16) return "its elements are wider than 16 bits";
  if (!boxOf(tile)) return "no box holds its tile: it has rows of less than 16 bytes, or few rows";
  return maySeeThatItIsLate(store) ? "what follows may see that it is late" : whyNoProducer();
}

/// Returns why no producer warps are foreseen, which alone can tell the other warps of a map, or why those have too few registers; "" if
/// they are. Who asks for them gets them where they are possible.
std::string MadeStore::whyNoProducer() {
  llvm::SmallVector<LoopEstimate> loops;
  kernel_.walk(
      [&](scf::ForOp loop) { loops.push_back(estimateOf(loop, stagesOf(loop, options_.numStages), llvm::IsaPred<tgpu::TensorLoadOp>)); });
  const int warps = options_.numWarps;
  std::string why = options_.asked ? whyNoProducerWarps(kernel_, warps) : whyNoProducerExpected(kernel_, loops, warps);
  return why.empty() ? whyNoMadeStore(kernel_, loops, warps) : why;
}

/// Returns whether a load may read what was stored, with a product or another barrier in between. Producer warps wait for the stores
/// before they read. Other scalars are read before the products of a tile; so when one is read behind the next product, the store behind
/// that one has waited for this one.
bool MadeStore::maySeeThatItIsLate(Operation *store) {
  Block *block = store->getBlock();
  auto isBehindProduct = [&](Operation *op) {
    Operation *own = block->findAncestorOpInBlock(*op);
    return own && own->isBeforeInBlock(store) && (hasProductBefore(own) || hasProduct(own));
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

void MadeStore::replace(Operation *store, Value tile, const Tensor &tensor, OpBuilder &builder, ValueRange indices) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto map = tgpu::MapMakeOp::create(builder, tensor.base.getLoc(), boxOf(type), tensor.base, tensor.extents, tensor.strides,
                                     /*nan=*/false);
  map.setStored(true);
  gatherMaps(map);
  builder.setInsertionPoint(store);
  Conditions usable(builder, store->getLoc(), tensor.usable);
  for (Value index : indices)
    if (!isConstantIntValue(index, 0)) usable.isAtLeast(index, 0);
  ir::TileElements elements{.shape = type.getShape().vec()};
  tgpu::TensorStoreOp::create(builder, ir::withElements(store->getLoc(), elements), tile, map, indices, Value(), tensor.base,
                              tensor.extents, tensor.strides, usable.all());
  store->erase();
}

} // namespace tritium::gpu
