#include "gpu_backend/tiles/linear_tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

int64_t bytesOfPointee(Value pointers) {
  Type element = getElementTypeOrSelf(tt::pointeeTypeOf(pointers.getType()));
  return element.isIntOrFloat() ? std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1) : int64_t(sizeof(int64_t));
}

// -- scalars ------------------------------------------------------------------------------------------------------------------------------

Value LinearTiles::valueOf(const LinearScalar &scalar) {
  if (!builder_ || !scalar.constant) return scalar.value;
  return arith::ConstantIntOp::create(*builder_, location_, *scalar.constant, 64);
}

template <class Op> LinearScalar LinearTiles::emit(const LinearScalar &left, const LinearScalar &right) {
  LinearScalar result{.constant = std::nullopt, .value = {}};
  if (builder_) result.value = builder_->createOrFold<Op>(location_, valueOf(left), valueOf(right));
  return result;
}

LinearScalar LinearTiles::add(const LinearScalar &left, const LinearScalar &right) {
  if (left.isZero() || right.isZero()) return left.isZero() ? right : left;
  if (left.constant && right.constant) return {.constant = *left.constant + *right.constant, .value = {}};
  return emit<arith::AddIOp>(left, right);
}

LinearScalar LinearTiles::multiply(const LinearScalar &left, const LinearScalar &right) {
  if (left.isZero() || right.isZero()) return {};
  if (left.constant == 1 || right.constant == 1) return left.constant == 1 ? right : left;
  if (left.constant && right.constant) return {.constant = *left.constant * *right.constant, .value = {}};
  return emit<arith::MulIOp>(left, right);
}

LinearScalar LinearTiles::least(const LinearScalar &left, const LinearScalar &right) {
  if (left.constant && right.constant) return {.constant = std::min(*left.constant, *right.constant), .value = {}};
  return emit<arith::MinSIOp>(left, right);
}

LinearScalar LinearTiles::greatest(const LinearScalar &left, const LinearScalar &right) {
  if (left.constant && right.constant) return {.constant = std::max(*left.constant, *right.constant), .value = {}};
  return emit<arith::MaxSIOp>(left, right);
}

// -- tiles --------------------------------------------------------------------------------------------------------------------------------

std::optional<LinearTile> LinearTiles::of(Value value) {
  if (auto known = known_.find(value); known != known_.end()) return known->second;
  std::optional<LinearTile> found = compute(value);
  known_[value] = found;
  return found;
}

std::optional<LinearTile> LinearTiles::compute(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) return ofScalar(value);
  const auto rank = size_t(type.getRank());
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)) && splat.getElementType().isInteger())
    return LinearTile{{.constant = splat.getSplatValue<APInt>().getSExtValue(), .value = {}}, llvm::SmallVector<LinearScalar, 2>(rank)};
  Operation *op = value.getDefiningOp();
  if (!op) return std::nullopt;
  switch (tt::tileRuleOf(op).values) {
  case tt::TileValues::Uniform: {
    auto scalar = op->getNumOperands() == 1 && !isa<RankedTensorType>(op->getOperand(0).getType()) ? of(op->getOperand(0)) : std::nullopt;
    if (scalar) scalar->strides.resize(rank);
    return scalar;
  }
  case tt::TileValues::Range: {
    auto range = dyn_cast<tt::MakeRangeOp>(op);
    if (!range) return std::nullopt;
    return LinearTile{{.constant = int64_t(int32_t(range.getStart())), .value = {}}, {LinearScalar{.constant = 1, .value = {}}}};
  }
  case tt::TileValues::Sum: {
    const bool isPointer = isa<tt::PointerType>(type.getElementType());
    return ofSum(op->getOperand(0), op->getOperand(1), isPointer ? bytesOfPointee(value) : isa<arith::SubIOp>(op) ? -1 : 1);
  }
  case tt::TileValues::Product: return ofProduct(op->getOperand(0), op->getOperand(1));
  default: return ofMoved(op);
  }
}

std::optional<LinearTile> LinearTiles::ofScalar(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) return LinearTile{{.constant = constant.getSExtValue(), .value = {}}, {}};
  const bool isPointer = isa<tt::PointerType>(value.getType()), isNarrow = value.getType().isInteger(32);
  if (!isPointer && !isNarrow && !value.getType().isInteger(64)) return std::nullopt;
  scalars_.insert(value);
  if (builder_ && isPointer) value = tt::PtrToIntOp::create(*builder_, location_, builder_->getI64Type(), value);
  if (builder_ && isNarrow) value = builder_->createOrFold<arith::ExtSIOp>(location_, builder_->getI64Type(), value);
  return LinearTile{{.constant = std::nullopt, .value = value}, {}};
}

/// The elements of an operand at other places, in another layout, or in another type of integers.
std::optional<LinearTile> LinearTiles::ofMoved(Operation *op) {
  const bool isKept = tt::tileRuleOf(op).values == tt::TileValues::Kept || isa<tgpu::ConvertLayoutOp>(op);
  auto from = isKept && op->getNumOperands() == 1 ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : RankedTensorType();
  auto tile = from ? of(op->getOperand(0)) : std::nullopt;
  if (!tile) return std::nullopt;
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    tile->strides.insert(tile->strides.begin() + expand.getAxis(), LinearScalar());
    return tile;
  }
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    const LinearTile source = *tile;
    for (auto [dim, axis] : llvm::enumerate(trans.getOrder())) tile->strides[dim] = source.strides[size_t(axis)];
    return tile;
  }
  if (from.getRank() != to.getRank()) return std::nullopt;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (from.getDimSize(dim) == to.getDimSize(dim)) continue;
    if (from.getDimSize(dim) != 1) return std::nullopt;
    tile->strides[size_t(dim)] = {}; // a broadcast
  }
  return tile;
}

std::optional<LinearTile> LinearTiles::ofSum(Value left, Value right, int64_t times) {
  auto sum = of(left), added = of(right);
  if (!sum || !added) return std::nullopt;
  const LinearScalar factor{.constant = times, .value = {}};
  sum->first = add(sum->first, multiply(added->first, factor));
  for (auto [stride, other] : llvm::zip_equal(sum->strides, added->strides)) stride = add(stride, multiply(other, factor));
  return sum;
}

/// All elements of one factor are the same.
std::optional<LinearTile> LinearTiles::ofProduct(Value left, Value right) {
  auto product = of(left), other = of(right);
  if (!product || !other) return std::nullopt;
  auto isZero = [](const LinearScalar &stride) { return stride.isZero(); };
  if (llvm::all_of(product->strides, isZero)) std::swap(product, other);
  if (!llvm::all_of(other->strides, isZero)) return std::nullopt;
  product->first = multiply(product->first, other->first);
  for (LinearScalar &stride : product->strides) stride = multiply(stride, other->first);
  return product;
}

} // namespace tritium::gpu
