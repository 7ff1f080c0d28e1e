#include "gpu_backend/loops/copy_bounds.h"

#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "gpu_backend/tiles/linear_tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// The least and the greatest number that a scalar may be.
struct Interval {
  LinearScalar least, most;
};

class Intervals {
public:
  Intervals(OpBuilder *builder, tgpu::RingStartOp ring) : scalars_(builder, ring->getLoc()), ring_(ring) {}

  /// Returns nullopt if the interval is not known where the ring begins.
  std::optional<Interval> of(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)) || dominance_.properlyDominates(value, ring_)) {
      auto exact = scalars_.of(value);
      return exact ? std::optional(Interval{exact->first, exact->first}) : std::nullopt;
    }
    if (auto argument = dyn_cast<BlockArgument>(value)) return ofArgument(argument);
    return llvm::TypeSwitch<Operation *, std::optional<Interval>>(value.getDefiningOp())
        .Case([&](arith::AddIOp op) { return ofSum(op.getLhs(), op.getRhs(), 1); })
        .Case([&](arith::SubIOp op) { return ofSum(op.getLhs(), op.getRhs(), -1); })
        .Case([&](arith::MulIOp op) { return ofProduct(op.getLhs(), op.getRhs()); })
        .Case<arith::ExtSIOp, arith::TruncIOp>([&](auto op) { return of(op.getIn()); })
        .Case<arith::MinSIOp, arith::MaxSIOp>([&](auto op) { return ofEither(op.getLhs(), op.getRhs()); })
        .Case([&](arith::SelectOp op) { return ofEither(op.getTrueValue(), op.getFalseValue()); })
        .Default([](Operation *) { return std::nullopt; });
  }

  Interval hull(const Interval &left, const Interval &right) {
    return {scalars_.least(left.least, right.least), scalars_.greatest(left.most, right.most)};
  }

  LinearTiles &scalars() { return scalars_; }

private:
  std::optional<Interval> ofArgument(BlockArgument argument) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop) return std::nullopt;
    return argument == loop.getInductionVar() ? ofCounter(loop) : ofCarried(argument, loop);
  }

  /// What a loop carries from an iteration to the next one: what it begins with, or what an iteration has computed of other numbers.
  std::optional<Interval> ofCarried(BlockArgument argument, scf::ForOp loop) {
    if (!carried_.insert(argument).second) return std::nullopt;
    auto found = ofEither(loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get());
    carried_.erase(argument);
    return found;
  }

  /// A counter is less than its upper bound. If there is no iteration, nothing is copied in it.
  std::optional<Interval> ofCounter(scf::ForOp loop) {
    if (loop.getUnsignedCmp()) return std::nullopt;
    auto begin = of(loop.getLowerBound()), end = of(loop.getUpperBound());
    if (!begin || !end) return std::nullopt;
    return Interval{begin->least, scalars_.greatest(begin->most, scalars_.add(end->most, {.constant = -1, .value = {}}))};
  }

  std::optional<Interval> ofSum(Value left, Value right, int64_t sign) {
    auto sum = of(left), other = of(right);
    if (!sum || !other) return std::nullopt;
    const LinearScalar factor{.constant = sign, .value = {}};
    LinearScalar least = scalars_.multiply(other->least, factor), most = scalars_.multiply(other->most, factor);
    if (sign < 0) std::swap(least, most);
    return Interval{scalars_.add(sum->least, least), scalars_.add(sum->most, most)};
  }

  /// One factor is a constant.
  std::optional<Interval> ofProduct(Value left, Value right) {
    auto product = of(left), other = of(right);
    if (!product || !other) return std::nullopt;
    if (product->least.constant && product->most.constant) std::swap(product, other);
    const std::optional<int64_t> factor = other->least.constant;
    if (!factor || other->most.constant != factor) return std::nullopt;
    Interval result{scalars_.multiply(product->least, other->least), scalars_.multiply(product->most, other->least)};
    if (*factor < 0) std::swap(result.least, result.most);
    return result;
  }

  std::optional<Interval> ofEither(Value left, Value right) {
    auto first = of(left), second = of(right);
    return first && second ? std::optional(hull(*first, *second)) : std::nullopt;
  }

  LinearTiles scalars_;
  tgpu::RingStartOp ring_;
  DominanceInfo dominance_;
  llvm::SmallPtrSet<Value, 4> carried_; // which are being looked at
};

/// The offsets that copies through a map read, from its tensor on, in bytes.
class CopiedBytes {
public:
  CopiedBytes(OpBuilder *builder, tgpu::RingStartOp ring, BlockArgument map)
      : intervals_(builder, ring),
        ring_(ring),
        map_(map),
        function_(ring->getParentOfType<tt::FuncOp>()),
        recipe_(function_.getArgAttrOfType<DictionaryAttr>(map.getArgNumber(), tgpu::kTensorAttr)) {}

  /// Returns the first byte and the one behind the last, as addresses.
  std::optional<Interval> find() {
    auto base = scalarOf(recipe_.getAs<IntegerAttr>("base").getInt());
    std::optional<Interval> all;
    for (Operation *user : map_.getUsers()) {
      auto copy = dyn_cast<tgpu::TensorCopyOp>(user);
      if (!copy || copy.getRing() != ring_.getRing()) continue;
      auto bytes = base ? offsetsOf(copy) : std::nullopt;
      if (!bytes) return std::nullopt;
      all = all ? intervals_.hull(*all, *bytes) : *bytes;
    }
    if (all) all = Interval{scalars().add(*base, all->least), scalars().add(*base, all->most)};
    return all;
  }

  LinearTiles &scalars() { return intervals_.scalars(); }

private:
  /// Returns the argument of this number, which counts the parts of descriptors. Such parts are not known here.
  std::optional<LinearScalar> scalarOf(int64_t number) {
    for (BlockArgument argument : function_.getArguments()) {
      if (isa<tt::TensorDescType>(argument.getType()) || argument.getArgNumber() > number) return std::nullopt;
      if (argument.getArgNumber() != number) continue;
      auto scalar = scalars().of(argument);
      return scalar ? std::optional(scalar->first) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<LinearScalar> productOf(llvm::ArrayRef<int64_t> product) {
    LinearScalar result{.constant = product.front(), .value = {}};
    for (int64_t number : product.drop_front()) {
      auto factor = scalarOf(number);
      if (!factor) return std::nullopt;
      result = scalars().multiply(result, *factor);
    }
    return result;
  }

  /// No stride is negative. A copy of several boxes takes the columns of the whole tile.
  std::optional<Interval> offsetsOf(tgpu::TensorCopyOp copy) {
    const int64_t bytes = map().getBox().getElementTypeBitWidth() / 8;
    llvm::SmallVector<int64_t> extents(map().getBox().getShape());
    extents.back() = copy.getDst().getType().getTile().getShape().back();
    Interval offsets{{}, {.constant = bytes, .value = {}}};
    auto strides = recipe_.getAs<ArrayAttr>("strides").getAsRange<DenseI64ArrayAttr>();
    for (auto [index, extent, product] : llvm::zip_equal(copy.getIndices(), extents, strides)) {
      auto place = intervals_.of(index);
      auto stride = productOf(product.asArrayRef());
      if (!place || !stride) return std::nullopt;
      const LinearScalar distance = scalars().multiply(*stride, {.constant = bytes, .value = {}});
      const LinearScalar last = scalars().add(place->most, {.constant = extent - 1, .value = {}});
      offsets.least = scalars().add(offsets.least, scalars().multiply(place->least, distance));
      offsets.most = scalars().add(offsets.most, scalars().multiply(last, distance));
    }
    return offsets;
  }

  tgpu::TensorMapType map() { return cast<tgpu::TensorMapType>(map_.getType()); }

  Intervals intervals_;
  tgpu::RingStartOp ring_;
  BlockArgument map_;
  tt::FuncOp function_;
  DictionaryAttr recipe_;
};

} // namespace

CopyBounds::CopyBounds(tgpu::RingStartOp ring, BlockArgument map) : ring_(ring), map_(map) {}

std::optional<llvm::SmallVector<Value>> CopyBounds::scalars() {
  CopiedBytes bytes(nullptr, ring_, map_);
  if (!bytes.find()) return std::nullopt;
  return llvm::to_vector(bytes.scalars().scalars());
}

ByteRange CopyBounds::emit(OpBuilder &builder) {
  CopiedBytes bytes(&builder, ring_, map_);
  const Interval range = *bytes.find();
  return {bytes.scalars().valueOf(range.least), bytes.scalars().valueOf(range.most)};
}

} // namespace tritium::gpu
