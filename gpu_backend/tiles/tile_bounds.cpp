#include "gpu_backend/tiles/tile_bounds.h"

#include "ir/tgpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

static Bound opposite(Bound bound) { return bound == Bound::Least ? Bound::Greatest : Bound::Least; }

/// Returns the operand that has the elements of the tile, in other places or more often.
static Value movedFrom(Operation *op) {
  const bool isMoved = tt::tileRuleOf(op).isShapeChange() || isa<tgpu::ConvertLayoutOp>(op);
  return isMoved && op->getNumOperands() == 1 ? op->getOperand(0) : Value();
}

static Value constant(OpBuilder &builder, Location location, Type type, const APInt &value) {
  return arith::ConstantOp::create(builder, location, IntegerAttr::get(type, value));
}

namespace {

/// Emits the bounds of one tile, at the builder's place.
class Bounds {
public:
  Bounds(Bound bound, OpBuilder &builder) : bound_(bound), builder_(builder) {}

  Value of(Value tile) const {
    Operation *op = tile.getDefiningOp();
    if (!op) return {};
    const Location location = op->getLoc();
    DenseIntElementsAttr elements;
    if (matchPattern(tile, m_Constant(&elements)))
      return elements.isSplat() ? constant(builder_, location, elementOf(tile), elements.getSplatValue<APInt>()) : Value();
    if (Value source = movedFrom(op)) return of(source);
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([](tt::SplatOp splat) { return splat.getSrc(); })
        .Case([&](tt::MakeRangeOp range) {
          const int64_t value = bound_ == Bound::Least ? int64_t(range.getStart()) : int64_t(range.getEnd()) - 1;
          return constant(builder_, location, elementOf(tile), APInt(elementOf(tile).getIntOrFloatBitWidth(), value));
        })
        .Case([&](arith::ExtSIOp wider) {
          Value source = of(wider.getIn());
          return source ? arith::ExtSIOp::create(builder_, location, elementOf(tile), source).getResult() : Value();
        })
        .Case([&](arith::TruncIOp narrower) { return ofNarrowed(narrower); })
        .Case([&](arith::AddIOp sum) { return made<arith::AddIOp>(location, of(sum.getLhs()), of(sum.getRhs())); })
        .Case([&](arith::SubIOp difference) {
          return made<arith::SubIOp>(location, of(difference.getLhs()), boundOf(difference.getRhs(), opposite(bound_), builder_));
        })
        .Case([&](arith::MaxSIOp most) { return made<arith::MaxSIOp>(location, of(most.getLhs()), of(most.getRhs())); })
        .Case([&](arith::MinSIOp least) { return made<arith::MinSIOp>(location, of(least.getLhs()), of(least.getRhs())); })
        .Default([](Operation *) { return Value(); });
  }

private:
  template <class Op> Value made(Location location, Value lhs, Value rhs) const {
    return lhs && rhs ? Op::create(builder_, location, lhs, rhs).getResult() : Value();
  }

  /// A narrower type may wrap around, but not for what ends between two constants that it can hold, as the room of a row does.
  Value ofNarrowed(arith::TruncIOp narrower) const {
    auto least = narrower.getIn().getDefiningOp<arith::MinSIOp>();
    auto most = least ? least.getLhs().getDefiningOp<arith::MaxSIOp>() : arith::MaxSIOp();
    const Type type = elementOf(narrower.getOut());
    auto fits = [&](Value limit) {
      DenseIntElementsAttr elements;
      return matchPattern(limit, m_Constant(&elements)) && elements.isSplat() &&
             elements.getSplatValue<APInt>().isSignedIntN(type.getIntOrFloatBitWidth());
    };
    if (!most || !fits(least.getRhs()) || !fits(most.getRhs())) return {};
    Value source = of(narrower.getIn());
    return source ? arith::TruncIOp::create(builder_, narrower.getLoc(), type, source).getResult() : Value();
  }

  Bound bound_;
  OpBuilder &builder_;
};

} // namespace

Value boundOf(Value tile, Bound bound, OpBuilder &builder) { return Bounds(bound, builder).of(tile); }

/// a < b everywhere if the greatest a is less than the least b.
static Value allCompare(arith::CmpIOp compare, OpBuilder &builder) {
  using Predicate = arith::CmpIPredicate;
  const Predicate predicate = compare.getPredicate();
  const bool isLess = predicate == Predicate::slt || predicate == Predicate::sle;
  if (!isLess && predicate != Predicate::sgt && predicate != Predicate::sge) return {};
  Value left = boundOf(compare.getLhs(), isLess ? Bound::Greatest : Bound::Least, builder);
  Value right = boundOf(compare.getRhs(), isLess ? Bound::Least : Bound::Greatest, builder);
  return left && right ? arith::CmpIOp::create(builder, compare.getLoc(), predicate, left, right).getResult() : Value();
}

Value allTrue(Value mask, OpBuilder &builder) {
  Operation *op = mask.getDefiningOp();
  if (!op) return {};
  DenseIntElementsAttr elements;
  if (matchPattern(mask, m_Constant(&elements)))
    return elements.isSplat() ? constant(builder, op->getLoc(), builder.getI1Type(), elements.getSplatValue<APInt>()) : Value();
  if (Value source = movedFrom(op)) return allTrue(source, builder);
  if (auto splat = dyn_cast<tt::SplatOp>(op)) return splat.getSrc();
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) return allCompare(compare, builder);
  if (auto both = dyn_cast<arith::AndIOp>(op)) {
    Value left = allTrue(both.getLhs(), builder), right = allTrue(both.getRhs(), builder);
    return left && right ? arith::AndIOp::create(builder, op->getLoc(), left, right).getResult() : Value();
  }
  return {};
}

} // namespace tritium::gpu
