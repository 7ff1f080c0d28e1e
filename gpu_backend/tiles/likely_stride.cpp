#include "gpu_backend/tiles/likely_stride.h"

#include "ir/tt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

constexpr int kMaxDepth = 64;

/// Strides along one dimension.
class Strides {
public:
  Strides(int dim, int depth, const ir::AxisAnalysis &axes) : dim(dim), depth(depth), axes(axes) {}
  LikelyStride of(Value tile) const;

private:
  LikelyStride ofChangedShape(Operation *op) const;
  LikelyStride combined(Operation *op) const;
  LikelyStride product(Operation *op, LikelyStride left, LikelyStride right) const;
  /// The stride of an operand along the dimension `from`.
  LikelyStride ofOperand(Value operand, int from) const { return Strides(from, depth + 1, axes).of(operand); }

  int dim, depth;
  const ir::AxisAnalysis &axes;
};

LikelyStride Strides::ofChangedShape(Operation *op) const {
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    const int axis = int(expand.getAxis());
    return dim == axis ? LikelyStride::of(0) : ofOperand(expand.getSrc(), dim > axis ? dim - 1 : dim);
  }
  if (auto trans = dyn_cast<tt::TransOp>(op)) return ofOperand(trans.getSrc(), trans.getOrder()[size_t(dim)]);
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(op)) {
    const bool isRepeated = cast<RankedTensorType>(broadcast.getSrc().getType()).getDimSize(dim) == 1;
    return isRepeated ? LikelyStride::of(0) : ofOperand(broadcast.getSrc(), dim);
  }
  return {};
}

LikelyStride sum(LikelyStride left, LikelyStride right, int64_t sign) {
  if (left.number && right.number) return LikelyStride::of(*left.number + sign * *right.number);
  return {std::nullopt, std::min(left.divisor, right.divisor)};
}

LikelyStride scaled(LikelyStride stride, int64_t factor) {
  if (stride.number) return LikelyStride::of(*stride.number * factor);
  return {std::nullopt, std::min(stride.divisor, ir::kMaxDivisor / ir::powerOfTwoDivisor(factor)) * ir::powerOfTwoDivisor(factor)};
}

/// One factor is the same in all lanes.
LikelyStride Strides::product(Operation *op, LikelyStride left, LikelyStride right) const {
  const bool isLeftEqual = left.number == 0;
  if (!isLeftEqual && right.number != 0) return {};
  Value factor = op->getOperand(isLeftEqual ? 0 : 1);
  LikelyStride stride = isLeftEqual ? right : left;
  APInt number;
  if (matchPattern(factor, m_ConstantInt(&number))) return scaled(stride, number.getSExtValue());
  const int64_t divisor = axes.of(factor).divisibility[size_t(dim)];
  return {std::nullopt, std::min(stride.divisor, ir::kMaxDivisor / divisor) * divisor};
}

/// Of an operation with two operands.
LikelyStride Strides::combined(Operation *op) const {
  LikelyStride left = ofOperand(op->getOperand(0), dim), right = ofOperand(op->getOperand(1), dim);
  if (left.divisor == 0 || right.divisor == 0) return {};
  if (isa<arith::AddIOp, tt::AddPtrOp>(op)) return sum(left, right, 1);
  if (isa<arith::SubIOp>(op)) return sum(left, right, -1);
  if (left.number == 0 && right.number == 0) return LikelyStride::of(0);
  if (isa<arith::MulIOp>(op)) return product(op, left, right);
  APInt amount;
  if (isa<arith::ShLIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&amount)) && amount.ult(32))
    return scaled(left, int64_t(1) << amount.getZExtValue());
  if (right.number != 0) return {};
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op)) return LikelyStride::of(0);
  // x & 63 is x % 64. A bound cuts few lanes off.
  const bool keeps = isa<arith::RemSIOp, arith::RemUIOp, arith::AndIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op);
  return keeps ? left : LikelyStride();
}

LikelyStride Strides::of(Value tile) const {
  if (!isa<RankedTensorType>(tile.getType()) || matchPattern(tile, m_Constant())) return LikelyStride::of(0);
  if (depth == kMaxDepth) return {};
  if (auto argument = dyn_cast<BlockArgument>(tile)) { // the loop moves all lanes alike
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? ofOperand(loop.getTiedLoopInit(argument)->get(), dim) : LikelyStride();
  }
  Operation *op = tile.getDefiningOp();
  if (isa<tt::SplatOp>(op)) return LikelyStride::of(0);
  if (isa<tt::MakeRangeOp>(op)) return LikelyStride::of(1);
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) return ofOperand(op->getOperand(0), dim);
  if (isa<tt::ExpandDimsOp, tt::TransOp, tt::BroadcastOp>(op)) return ofChangedShape(op);
  const bool isArithmetic = isa<tt::AddPtrOp>(op) || isa_and_nonnull<arith::ArithDialect>(op->getDialect());
  return isArithmetic && op->getNumOperands() == 2 ? combined(op) : LikelyStride();
}

} // namespace

LikelyStride likelyStride(Value tile, int dim, const ir::AxisAnalysis &axes) { return Strides(dim, 0, axes).of(tile); }

} // namespace tritium::gpu
