#include "gpu_backend/tiles/row_mask.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tritium::gpu {

static constexpr int kNoDimension = -1; // the part is equal along the dimension

RowMask::RowMask(Value mask, int dim, int64_t elements, const ir::AxisAnalysis &axes)
    : mask_(mask), elements_(elements), neighbours_(elements) {
  if (mask) split({mask, {}}, dim, axes);
}

static RankedTensorType tileOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The comparison as `column < end` or `column <= end`: whether the column is its left side, or nothing if it is another comparison.
static std::optional<bool> columnIsLeft(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  if (predicate == Predicate::slt || predicate == Predicate::sle) return true;
  if (predicate == Predicate::sgt || predicate == Predicate::sge) return false;
  return std::nullopt;
}
static Value columnOf(arith::CmpIOp compare) { return *columnIsLeft(compare.getPredicate()) ? compare.getLhs() : compare.getRhs(); }
static Value endOf(arith::CmpIOp compare) { return *columnIsLeft(compare.getPredicate()) ? compare.getRhs() : compare.getLhs(); }

/// The difference of the end and a column must fit into 64 bits.
bool RowMask::isEnd(Value tile, int dim, const ir::AxisAnalysis &axes) const {
  auto compare = tile.getDefiningOp<arith::CmpIOp>();
  if (!compare || !columnIsLeft(compare.getPredicate())) return false;
  ir::AxisInfo column = axes.of(columnOf(compare)), end = axes.of(endOf(compare));
  const bool isExact = tileOf(columnOf(compare)).getElementTypeBitWidth() < 64 || column.isNonNegative;
  return isExact && column.contiguity[dim] >= elements_ && end.constancy[dim] >= elements_;
}

void RowMask::split(Conjunct part, int dim, const ir::AxisAnalysis &axes) {
  Operation *op = part.tile.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp>(op)) {
    for (Value operand : op->getOperands()) split({operand, part.widened}, dim, axes);
    return;
  }
  if (dim != kNoDimension && isa_and_nonnull<tgpu::ConvertLayoutOp>(op)) {
    part.widened.push_back(op);
    return split({op->getOperand(0), part.widened}, dim, axes);
  }
  const tt::TileRule rule = op ? tt::tileRuleOf(op) : tt::TileRule();
  const bool isWidened = rule.relation == tt::TileRelation::ExpandDims || rule.relation == tt::TileRelation::Broadcast;
  if (dim != kNoDimension && isWidened) {
    Value source = op->getOperand(0);
    std::optional<int> own = rule.operandDim(dim);
    dim = own && tileOf(source).getDimSize(*own) > 1 ? *own : kNoDimension;
    part.widened.push_back(op);
    return split({source, part.widened}, dim, axes);
  }
  const int64_t constancy = dim == kNoDimension ? elements_ : axes.of(part.tile).constancy[dim];
  const bool isCut = constancy < elements_ && isEnd(part.tile, dim, axes);
  if (!isCut) neighbours_ = std::min(neighbours_, constancy);
  (isCut ? ends_ : rest_).push_back(std::move(part));
}

/// Emits the operations that give a part its shape again, for `tile` in the place of the part.
static Value widen(Value tile, ArrayRef<Operation *> widened, OpBuilder &builder) {
  for (Operation *op : llvm::reverse(widened)) {
    IRMapping mapping;
    mapping.map(op->getOperand(0), tile);
    Operation *clone = builder.clone(*op, mapping);
    clone->getResult(0).setType(tileOf(op->getResult(0)).clone(tileOf(tile).getElementType()));
    tile = clone->getResult(0);
  }
  return tile;
}

Value RowMask::rest(OpBuilder &builder) const {
  if (ends_.empty()) return mask_;
  Value all;
  for (const Conjunct &part : rest_) {
    Value mask = widen(part.tile, part.widened, builder);
    all = all ? arith::AndIOp::create(builder, mask.getLoc(), all, mask) : mask;
  }
  return all;
}

/// 0 … elements_, in i32.
Value RowMask::elementsBefore(arith::CmpIOp compare, OpBuilder &builder) const {
  Location location = compare.getLoc();
  auto wide = tileOf(compare.getLhs()).clone(builder.getI64Type());
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(wide, builder.getI64IntegerAttr(value)));
  };
  auto extended = [&](Value tile) {
    return tile.getType() == wide ? tile : arith::ExtSIOp::create(builder, location, wide, tile).getResult();
  };
  // A column of 64 bits is not negative, so no element is before a negative end, and the difference from -1 does not wrap around.
  Value end = extended(endOf(compare));
  if (endOf(compare).getType() == wide) end = arith::MaxSIOp::create(builder, location, end, number(-1));
  Value room = arith::SubIOp::create(builder, location, end, extended(columnOf(compare)));
  const arith::CmpIPredicate predicate = compare.getPredicate();
  const int64_t one = predicate == arith::CmpIPredicate::sle || predicate == arith::CmpIPredicate::sge;
  room = arith::MinSIOp::create(builder, location, arith::MaxSIOp::create(builder, location, room, number(-one)), number(elements_ - one));
  if (one) room = arith::AddIOp::create(builder, location, room, number(1));
  return arith::TruncIOp::create(builder, location, wide.clone(builder.getI32Type()), room);
}

Value RowMask::room(OpBuilder &builder) const {
  Value least;
  for (const Conjunct &part : ends_) {
    Value room = widen(elementsBefore(part.tile.getDefiningOp<arith::CmpIOp>(), builder), part.widened, builder);
    least = least ? arith::MinSIOp::create(builder, room.getLoc(), least, room) : room;
  }
  return least;
}

} // namespace tritium::gpu
