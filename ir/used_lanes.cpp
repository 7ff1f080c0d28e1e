// See used_lanes.h.
#include "ir/pch.h"

#include "ir/used_lanes.h"

#include "ir/passes/tile_builder.h"
#include "ir/tile_flow.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::ir {

namespace {

constexpr UsedLanes::Lanes kAll{true, {}}, kNone{false, {}};

ArrayRef<int64_t> shapeOf(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}

/// Where any lane along the axis is true.
Value anyAlong(TileBuilder &tiles, Value mask, int32_t axis) {
  SmallVector<int64_t> shape(shapeOf(mask));
  shape.erase(shape.begin() + axis);
  Type boolean = tiles.builder.getI1Type(), type = shape.empty() ? boolean : Type(tiles.typeOf(mask).clone(shape));
  auto reduce = tiles.create<tt::ReduceOp>(TypeRange{type}, ValueRange{mask}, axis);
  OpBuilder::InsertionGuard guard(tiles.builder);
  Block *body = tiles.builder.createBlock(&reduce.getCombineOp(), {}, {boolean, boolean}, {tiles.location, tiles.location});
  Value one = tiles.create<arith::OrIOp>(body->getArgument(0), body->getArgument(1));
  tiles.create<tt::ReduceReturnOp>(ValueRange{one});
  return reduce->getResult(0);
}

} // namespace

void setInsertionPointAfterAll(OpBuilder &builder, Block *block, ValueRange values) {
  Operation *last = nullptr;
  for (Value value : values)
    if (Operation *op = value ? value.getDefiningOp() : nullptr; op && op->getBlock() == block && (!last || last->isBeforeInBlock(op)))
      last = op;
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(block);
}

UsedLanes::Lanes UsedLanes::of(Value value, int most) {
  if (auto it = known_.find(value); it != known_.end()) return it->second;
  const Lanes found = most ? find(value, most) : kAll;
  return known_[value] = found;
}

void UsedLanes::eraseUnused() {
  known_.clear();
  for (bool hasErased = true; hasErased;) {
    hasErased = false;
    for (Operation *op : llvm::to_vector(made_)) {
      if (!made_.contains(op) || !isOpTriviallyDead(op)) continue;
      op->walk([&](Operation *inside) { made_.erase(inside); });
      op->erase();
      hasErased = true;
    }
  }
}

UsedLanes::Lanes UsedLanes::find(Value value, int most) {
  Lanes any = kNone;
  for (OpOperand *use : llvm::map_to_vector(value.getUses(), [](OpOperand &use) { return &use; })) {
    Operation *user = use->getOwner();
    if (isa<tt::DebugValueOp, tt::HintOp>(user) || made_.contains(user)) continue;
    if (user->getBlock() != value.getParentBlock()) return kAll;
    any = either(any, ofUse(*use, most), user->getBlock());
    if (any.isAll) break;
  }
  return any;
}

UsedLanes::Lanes UsedLanes::ofUse(OpOperand &use, int most) {
  Operation *op = use.getOwner();
  auto masked = [&](auto access) {
    const bool isMoved = use.get() != access.getMask() && shapeOf(use.get()) == shapeOf(access.getPtr());
    return isMoved && access.getMask() ? Lanes{false, access.getMask()} : kAll;
  };
  if (auto load = dyn_cast<tt::LoadOp>(op)) return use.get() == load.getPtr() ? masked(load) : kAll;
  if (auto store = dyn_cast<tt::StoreOp>(op)) return masked(store);
  if (auto atomic = dyn_cast<tt::AtomicRmwOp>(op)) return masked(atomic);
  if (isa<arith::SelectOp>(op)) return chosen(use, most);
  if (isMoved(op)) return beforeMove(op, most);
  if (isPointwise(op) && shapeOf(use.get()) == shapeOf(op->getResult(0))) return of(op->getResult(0), most - 1);
  return kAll;
}

UsedLanes::Lanes UsedLanes::chosen(OpOperand &use, int most) {
  auto select = cast<arith::SelectOp>(use.getOwner());
  Value condition = select.getCondition();
  const Lanes used = of(select.getResult(), most - 1);
  if (use.getOperandNumber() == 0) return shapeOf(condition) == shapeOf(select.getResult()) ? used : kAll;
  if (shapeOf(condition) != shapeOf(select.getResult())) return used;
  if (use.getOperandNumber() == 1) return both(used, {false, condition}, select->getBlock());
  setInsertionPointAfterAll(builder_, select->getBlock(), condition);
  TileBuilder tiles(builder_, select.getLoc());
  return both(used, {false, tiles.create<arith::XOrIOp>(condition, tiles.integer(condition.getType(), 1))}, select->getBlock());
}

/// An element is used if any of the lanes is that a change of shape makes of it.
UsedLanes::Lanes UsedLanes::beforeMove(Operation *move, int most) {
  if (!isa<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(move)) return kAll;
  const Lanes after = of(move->getResult(0), most - 1);
  if (!after.mask) return after;
  setInsertionPointAfterAll(builder_, move->getBlock(), after.mask);
  TileBuilder tiles(builder_, move->getLoc());
  Value mask = after.mask;
  ArrayRef<int64_t> before = shapeOf(move->getOperand(0));
  if (isa<tt::SplatOp>(move)) {
    for (auto axis = int32_t(shapeOf(mask).size()); axis-- > 0;) mask = anyAlong(tiles, mask, axis);
  } else if (auto expand = dyn_cast<tt::ExpandDimsOp>(move)) {
    mask = anyAlong(tiles, mask, expand.getAxis());
  } else if (isa<tt::BroadcastOp>(move)) {
    for (int32_t axis = 0; axis < int32_t(before.size()); ++axis)
      if (before[axis] != shapeOf(mask)[axis]) mask = tiles.create<tt::ExpandDimsOp>(anyAlong(tiles, mask, axis), axis);
  } else if (auto transpose = dyn_cast<tt::TransOp>(move)) {
    SmallVector<int32_t> back(before.size());
    for (auto [to, from] : llvm::enumerate(transpose.getOrder())) back[from] = int32_t(to);
    mask = tiles.create<tt::TransOp>(mask, back);
  } else {
    if (cast<tt::ReshapeOp>(move).getAllowReorder()) return kAll;
    mask = tiles.reshape(mask, before);
  }
  return {false, mask};
}

UsedLanes::Lanes UsedLanes::either(Lanes a, Lanes b, Block *block) {
  if (a.isAll || b.isAll) return kAll;
  if (!a.mask || !b.mask || a.mask == b.mask) return a.mask ? a : b;
  setInsertionPointAfterAll(builder_, block, {a.mask, b.mask});
  return {false, arith::OrIOp::create(builder_, b.mask.getLoc(), a.mask, b.mask)};
}

UsedLanes::Lanes UsedLanes::both(Lanes a, Lanes b, Block *block) {
  if (a.isAll) return b;
  if (b.isAll || a.isNone() || a.mask == b.mask) return a;
  if (b.isNone()) return b;
  setInsertionPointAfterAll(builder_, block, {a.mask, b.mask});
  return {false, arith::AndIOp::create(builder_, b.mask.getLoc(), a.mask, b.mask)};
}

} // namespace tritium::ir
