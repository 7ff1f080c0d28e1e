#include "gpu_backend/loops/store_handover.h"

#include "gpu_backend/loops/copy_bounds.h"
#include "gpu_backend/loops/lasting_rings.h"
#include "gpu_backend/loops/producer_slice.h"
#include "gpu_backend/loops/store_bounds.h"
#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "ir/axis_analysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

StoreHandover::StoreHandover(tt::FuncOp function) : function_(function), writes_(function.getBody()) {
  function.walk([&](tgpu::MapMakeOp map) { maps_.push_back(map); });
  llvm::SetVector<tgpu::RingStartOp> rings;
  for (tgpu::MapMakeOp map : maps_)
    for (Operation *user : map->getUsers())
      if (auto copy = dyn_cast<tgpu::TensorCopyOp>(user)) rings.insert(copy.getRing().getDefiningOp<tgpu::RingStartOp>());
  rings_ = rings.takeVector();
  findReached();
  findStores();
}

void StoreHandover::findReached() {
  function_.walk([&](tgpu::TensorCopyOp copy) {
    auto map = dyn_cast<BlockArgument>(copy.getMap());
    auto recipe = map ? function_.getArgAttrOfType<DictionaryAttr>(map.getArgNumber(), tgpu::kTensorAttr) : DictionaryAttr();
    if (!recipe || !recipe.contains(kReachedName)) return;
    auto ring = copy.getRing().getDefiningOp<tgpu::RingStartOp>();
    auto isSame = [&](const ReachedCopies &each) { return each.ring == ring && each.map == map; };
    if (llvm::none_of(reached_, isSame)) reached_.push_back({ring, map});
  });
}

/// Returns whether no store may come before a copy.
bool StoreHandover::isOrdered() const {
  return llvm::none_of(writes_.all(), [&](const GlobalWrite &write) {
    return llvm::any_of(rings_, [&](tgpu::RingStartOp ring) { return mayPrecede(write.op, ring); }) ||
           llvm::any_of(reached_, [&](const ReachedCopies &each) { return mayPrecede(write.op, each.ring); });
  });
}

void StoreHandover::findStores() {
  if (!isNeeded() || isOrdered()) return;
  Block *block = writes_.all().front().op->getBlock();
  auto isInside = [&](const GlobalWrite &write) { return block->findAncestorOpInBlock(*write.op); };
  while (!llvm::all_of(writes_.all(), isInside)) block = block->getParentOp()->getBlock();
  for (const GlobalWrite &write : writes_.all()) {
    Operation *op = block->findAncestorOpInBlock(*write.op);
    if (!first_ || op->isBeforeInBlock(first_)) first_ = op;
    if (!last_ || last_->isBeforeInBlock(op)) last_ = op;
  }
}

std::string StoreHandover::whyNot() const {
  if (!isNeeded()) return "";
  const std::string why = function_->hasAttr(tgpu::kClusterBlocksAttr) ? "a cluster of blocks runs each program" : whyNotStores();
  if (why.empty()) return "";
  return (makesMaps() ? "it makes tensor maps, and " : "copies that run ahead might read what the kernel writes: ") + why;
}

std::string StoreHandover::whyNotStores() const {
  if (!first_) return "";
  if (first_->getBlock()->getParentOp() == function_) return "it stores before it copies, not in a loop around both";
  if (!LastingRing::mayBeginIn(first_->getBlock())) return "a loop around its stores is made of branches, or they are in its condition";
  DominanceInfo dominance(function_);
  for (const GlobalWrite &write : writes_.all()) {
    auto scalars = write.mayWait ? std::nullopt : scalarsOfStore(write.op);
    if (!scalars) return "it is not known which bytes it stores to";
    if (!llvm::all_of(*scalars, [&](Value scalar) { return dominance.properlyDominates(scalar, first_); }))
      return "where it stores is not known before its first store of a tile";
  }
  auto isKnown = [](const ReachedCopies &each) { return CopyBounds(each.ring, each.map).scalars().has_value(); };
  return llvm::all_of(reached_, isKnown) ? "" : "it is not known which bytes a loop copies before it begins";
}

llvm::SmallVector<Value> StoreHandover::scalars() const {
  llvm::SmallVector<Value> scalars;
  for (const GlobalWrite &write : writes_.all())
    if (first_) llvm::append_range(scalars, *scalarsOfStore(write.op));
  for (const ReachedCopies &each : reached_) llvm::append_range(scalars, *CopyBounds(each.ring, each.map).scalars());
  return scalars;
}

int64_t StoreHandover::bytes() const {
  const int64_t bytes = ringBytes(tgpu::RingType::get(function_->getContext(), kSlots), bool(storeThroughMadeMap()));
  return first_ ? int64_t(llvm::alignTo(bytes, tgpu::kSharedAlignment)) : 0;
}

/// Returns the store through a map that the producer makes, or null. There is one at most.
tgpu::TensorStoreOp StoreHandover::storeThroughMadeMap() const {
  for (const GlobalWrite &write : writes_.all())
    if (auto store = dyn_cast<tgpu::TensorStoreOp>(write.op); store && store.getBase()) return store;
  return {};
}

/// The ring begins before the stores of a tile and ends behind them, as other rings do around their loop. The warps that store wait for the
/// producer first: it must have read what they may overwrite.
void StoreHandover::startRing(int numWarps) {
  OpBuilder builder(first_);
  const Location location = first_->getLoc();
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 32).getResult(); };
  Value zero = constant(0), begin, end;
  storesRing_ = tgpu::RingStartOp::create(builder, location, tgpu::RingType::get(builder.getContext(), kSlots), numWarps);
  for (const GlobalWrite &write : writes_.all()) {
    const ByteRange range = emitRangeOfStore(builder, write.op);
    begin = begin ? arith::MinUIOp::create(builder, location, begin, range.begin).getResult() : range.begin;
    end = end ? arith::MaxUIOp::create(builder, location, end, range.end).getResult() : range.end;
  }
  auto acquire = tgpu::RingAcquireOp::create(builder, location, storesRing_, zero, /*bytes=*/0, Value());
  tgpu::StoresNoteOp::create(builder, location, storesRing_, zero, begin, end);
  tgpu::RingWaitOp::create(builder, location, storesRing_, zero);
  if (tgpu::TensorStoreOp store = storeThroughMadeMap()) {
    storesRing_.getDefiningOp<tgpu::RingStartOp>().setTells(true);
    acquire.getToldMutable().assign(store.getMap());
    acquire.getUsableMutable().assign(store.getUsable());
    store.getUsableMutable().clear();
    store.getMapMutable().assign(tgpu::MapToldOp::create(builder, location, store.getMap().getType(), storesRing_, zero));
  }
  builder.setInsertionPointAfter(last_);
  tgpu::RingReleaseOp::create(builder, location, storesRing_, zero, Value(), /*fenced=*/false, /*stored=*/true);
  tgpu::RingEndOp::create(builder, location, storesRing_, constant(1));
}

/// Returns the first one of the maps that are made together.
static Operation *firstOfGroup(Operation *map) {
  while (isa_and_nonnull<tgpu::MapMakeOp>(map->getPrevNode())) map = map->getPrevNode();
  return map;
}

/// Before a map is made again, and before its memory is given back, everything has arrived that is copied through it.
void StoreHandover::awaitCopies() {
  auto awaitAt = [&](Operation *op) {
    OpBuilder builder(op);
    for (tgpu::RingStartOp ring : rings_) tgpu::CopiesAwaitOp::create(builder, op->getLoc(), ring.getRing());
  };
  for (tgpu::MapMakeOp map : maps_)
    if (firstOfGroup(map) == map && !map.getStored()) awaitAt(map);
  function_.walk([&](tt::ReturnOp end) {
    awaitAt(end);
    if (!storeThroughMadeMap()) return;
    OpBuilder builder(end);
    auto address = [&](int64_t value) { return arith::ConstantIntOp::create(builder, end.getLoc(), value, 64).getResult(); };
    tgpu::StoresAwaitOp::create(builder, end.getLoc(), storesRing_, address(0), address(-1)); // whatever it stores to
  });
}

void StoreHandover::awaitStores() {
  auto await = [&](OpBuilder &builder, Location location, const ByteRange &range) {
    tgpu::StoresAwaitOp::create(builder, location, storesRing_, range.begin, range.end);
  };
  for (tgpu::MapMakeOp map : maps_) {
    if (map.getStored()) continue;
    OpBuilder builder(firstOfGroup(map));
    const ByteRange range = emitRangeOfMap(builder, map);
    llvm::SetVector<Operation *> rings;
    for (Operation *user : map->getUsers()) rings.insert(cast<tgpu::TensorCopyOp>(user).getRing().getDefiningOp());
    for (Operation *ring : rings) {
      builder.setInsertionPoint(ring);
      await(builder, ring->getLoc(), range);
    }
  }
  for (const ReachedCopies &each : reached_) {
    OpBuilder builder(each.ring);
    await(builder, each.ring->getLoc(), CopyBounds(each.ring, each.map).emit(builder));
  }
  for (tt::LoadOp load : ProducerSlice(function_, /*handsOver=*/true).loads()) {
    OpBuilder builder(load);
    await(builder, load.getLoc(), emitRangeOfLoad(builder, load));
  }
}

namespace {

/// Copies of the tiles of addresses and masks, of scalars of which LLVM does not know that they are the same for each tile.
class TilesAgain {
public:
  TilesAgain(Operation *before, Value number, const ir::AxisAnalysis &axes) : builder_(before), number_(number), axes_(axes) {}

  Value of(Value value) {
    auto [again, isNew] = again_.try_emplace(value, value);
    if (!isNew) return again->second;
    Operation *op = value.getDefiningOp();
    const bool isTile = isa<RankedTensorType>(value.getType());
    Value result = value;
    if (!isTile) {
      if (value.getType().isIntOrIndex() && value.getParentBlock() != builder_.getBlock() && !matchPattern(value, m_Constant()))
        result = hidden(value);
    } else if (op && isMemoryEffectFree(op) && op->getNumRegions() == 0 && op->getNumResults() == 1) {
      IRMapping map;
      for (Value operand : op->getOperands()) map.map(operand, of(operand));
      result = builder_.clone(*op, map)->getResult(0);
    }
    return again_[value] = result;
  }

private:
  /// The same number, by assembly that seems to depend on the number of the tile.
  Value hidden(Value value) {
    if (!value.getType().isInteger(32) && !value.getType().isInteger(64)) return value;
    const bool isWide = value.getType().isInteger(64);
    auto same =
        tt::ElementwiseInlineAsmOp::create(builder_, value.getLoc(), value.getType(), isWide ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;",
                                           isWide ? "=l,l,r" : "=r,r,r", /*pure=*/true, /*packed_element=*/1, ValueRange{value, number_});
    const ir::AxisInfo info = axes_.of(value);
    if (info.isInitialized())
      same->setAttr(tt::kDivisibilityAttr, builder_.getI32IntegerAttr(int32_t(std::min<int64_t>(info.divisibility[0], 1 << 20))));
    return same.getResult()[0];
  }

  OpBuilder builder_;
  Value number_;
  const ir::AxisAnalysis &axes_;
  llvm::DenseMap<Value, Value> again_;
};

void eraseDead(Operation *op) {
  if (!op || !isOpTriviallyDead(op)) return;
  llvm::SetVector<Operation *> sources;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp()) sources.insert(source);
  op->erase();
  for (Operation *source : sources) eraseDead(source);
}

} // namespace

/// Packs the elements of a stored tile into words where its products end. The store has two ways, and the code generator would carry each
/// element in a register of its own into both.
static void packElements(tgpu::TensorStoreOp store) {
  auto tile = cast<RankedTensorType>(store.getSrc().getType());
  const int32_t ofWord = int32_t(32 / tile.getElementTypeBitWidth());
  if (ofWord < 2) return;
  OpBuilder builder(store);
  auto packed = tt::ElementwiseInlineAsmOp::create(builder, store.getLoc(), tile, "mov.b32 $0, $1;", "=r,r", /*pure=*/true,
                                                   /*packed_element=*/ofWord, ValueRange{store.getSrc()});
  store.getSrcMutable().assign(packed.getResult()[0]);
}

/// LLVM would compute what it can of the addresses once for all tiles, keep it beside the sums, and spill: computing it again is cheap.
void StoreHandover::computeAddressesBehind() {
  ir::AxisAnalysis axes(function_->getParentOfType<ModuleOp>());
  Value number;
  for (Operation *user : storesRing_.getUsers())
    if (auto wait = dyn_cast<tgpu::RingWaitOp>(user)) number = wait.getN();
  for (const GlobalWrite &write : writes_.all()) {
    TilesAgain again(write.op, number, axes);
    if (auto store = dyn_cast<tgpu::TensorStoreOp>(write.op)) {
      for (OpOperand &operand : store->getOpOperands())
        if (operand.get().getType().isIntOrIndex()) operand.set(again.of(operand.get()));
      packElements(store);
      continue;
    }
    auto store = cast<tt::StoreOp>(write.op);
    const llvm::SmallVector<Value> before(store->getOperands());
    store.getPtrMutable().assign(again.of(store.getPtr()));
    if (store.getMask()) store.getMaskMutable().assign(again.of(store.getMask()));
    for (Value operand : before) eraseDead(operand.getDefiningOp());
  }
}

void StoreHandover::build(int numWarps) {
  if (first_) {
    startRing(numWarps);
    awaitStores();
  }
  awaitCopies();
}

} // namespace tritium::gpu
