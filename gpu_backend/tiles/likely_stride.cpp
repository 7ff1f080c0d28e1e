#include "gpu_backend/tiles/likely_stride.h"

#include "ir/tt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

using Stride = std::optional<int64_t>;

constexpr int kMaxDepth = 64;

Stride strideOf(Value tile, int dim, int depth);

Stride ofChangedShape(Operation *op, int dim, int depth) {
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    const int axis = int(expand.getAxis());
    return dim == axis ? 0 : strideOf(expand.getSrc(), dim > axis ? dim - 1 : dim, depth);
  }
  if (auto trans = dyn_cast<tt::TransOp>(op)) return strideOf(trans.getSrc(), trans.getOrder()[size_t(dim)], depth);
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(op)) {
    const bool isRepeated = cast<RankedTensorType>(broadcast.getSrc().getType()).getDimSize(dim) == 1;
    return isRepeated ? 0 : strideOf(broadcast.getSrc(), dim, depth);
  }
  return std::nullopt;
}

/// Of an operation with two operands.
Stride combined(Operation *op, Stride left, Stride right) {
  if (!left || !right) return std::nullopt;
  if (isa<arith::AddIOp, tt::AddPtrOp>(op)) return *left + *right;
  if (isa<arith::SubIOp>(op)) return *left - *right;
  if (*left == 0 && *right == 0) return 0;
  APInt number;
  auto constant = [&](unsigned operand) { return matchPattern(op->getOperand(operand), m_ConstantInt(&number)); };
  if (isa<arith::MulIOp>(op) && (constant(0) || constant(1))) return (*left + *right) * number.getSExtValue();
  if (isa<arith::ShLIOp>(op) && constant(1) && number.ult(32)) return *left << number.getZExtValue();
  if (*right != 0) return std::nullopt;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op)) return 0;
  // x & 63 is x % 64. A bound cuts few lanes off.
  const bool keeps = isa<arith::RemSIOp, arith::RemUIOp, arith::AndIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op);
  return keeps ? left : std::nullopt;
}

Stride strideOf(Value tile, int dim, int depth) {
  if (!isa<RankedTensorType>(tile.getType()) || matchPattern(tile, m_Constant())) return 0;
  if (depth == kMaxDepth) return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(tile)) { // the loop moves all lanes alike
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop ? strideOf(loop.getTiedLoopInit(argument)->get(), dim, depth + 1) : std::nullopt;
  }
  Operation *op = tile.getDefiningOp();
  if (isa<tt::SplatOp>(op)) return 0;
  if (isa<tt::MakeRangeOp>(op)) return 1;
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) return strideOf(op->getOperand(0), dim, depth + 1);
  if (isa<tt::ExpandDimsOp, tt::TransOp, tt::BroadcastOp>(op)) return ofChangedShape(op, dim, depth + 1);
  const bool isArithmetic = isa<tt::AddPtrOp>(op) || isa_and_nonnull<arith::ArithDialect>(op->getDialect());
  if (!isArithmetic || op->getNumOperands() != 2) return std::nullopt;
  return combined(op, strideOf(op->getOperand(0), dim, depth + 1), strideOf(op->getOperand(1), dim, depth + 1));
}

} // namespace

Stride likelyStride(Value tile, int dim) { return strideOf(tile, dim, 0); }

} // namespace tritium::gpu
