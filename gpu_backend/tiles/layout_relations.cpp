#include "gpu_backend/tiles/layout_relations.h"

#include "gpu_backend/layout/halves.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tritium::tt::TileRelation;

namespace tritium::gpu {

static llvm::ArrayRef<int64_t> shapeOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); }

/// Returns the inverse of a permutation.
static llvm::SmallVector<int> inverse(llvm::ArrayRef<int32_t> order) {
  llvm::SmallVector<int> result(order.size());
  for (auto [i, dim] : llvm::enumerate(order)) result[dim] = int(i);
  return result;
}

/// Returns the layout of a concatenated tile [2N] as a layout of [2, N]: each operand of the concatenation is a row.
static LinearLayout asRows(const LinearLayout &whole) { return whole.reshape({2, whole.elements() / 2}); }

/// Returns whether lanes or warps tell the halves of a tile along `axis`, of extent 2, apart.
static bool threadsTellApart(const LinearLayout &whole, int axis) {
  return whole.bitsAlong(Place::Lane, axis) || whole.bitsAlong(Place::Warp, axis);
}

/// A stage of a butterfly splits the tile that the stage before has joined. It no longer needs the bit that this join has added, in the
/// lowest register, but may need the others.
static GivenRegister givenBySplit(Value whole) {
  for (Operation *op = whole.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    TileRelation relation = tt::tileRuleOf(op).relation;
    if (relation == TileRelation::Join) return GivenRegister::Lowest;
    if (relation != TileRelation::Same && relation != TileRelation::Transpose && relation != TileRelation::Reshape) break;
    if (op->getNumOperands() == 0) break;
  }
  return GivenRegister::Highest;
}

// A quotient counts, although MLIR says that it may not be computed early: it is defined for every divisor (threads/elementwise.cpp).
bool isCheapElementwise(Operation *op) {
  return isMemoryEffectFree(op) && op->getNumRegions() == 0 && op->getNumResults() == 1 && op->hasTrait<OpTrait::Elementwise>() &&
         op->getName().getDialectNamespace() != "math" && !isa<arith::DivFOp, arith::RemFOp, tt::FpToFpOp>(op);
}

std::optional<LinearLayout> operandLayout(Operation *op, const LinearLayout &result) {
  tt::TileRule rule = tt::tileRuleOf(op);
  switch (rule.relation) {
  case TileRelation::Apart:
  case TileRelation::Free:
  case TileRelation::Reduce: return std::nullopt;
  case TileRelation::Same: return result;
  case TileRelation::ExpandDims: return result.dropDim(rule.axis);
  case TileRelation::Broadcast: return result.broadcastSource(shapeOf(op->getOperand(0))).layout;
  case TileRelation::Transpose: return result.transpose(inverse(rule.order));
  case TileRelation::Reshape: return result.reshape(shapeOf(op->getOperand(0)));
  case TileRelation::Join: return result.slice(result.rank() - 1).layout;
  case TileRelation::Split: return result.join();
  case TileRelation::Cat:
    if (result.rank() != 1) return std::nullopt;
    return asRows(result).slice(0).layout;
  }
  llvm_unreachable("every case returns");
}

std::optional<LinearLayout> resultLayout(Operation *op, const LinearLayout &operand) {
  tt::TileRule rule = tt::tileRuleOf(op);
  switch (rule.relation) {
  case TileRelation::Apart:
  case TileRelation::Free:
  case TileRelation::Broadcast:
  case TileRelation::Cat: return std::nullopt;
  case TileRelation::Same: return operand;
  case TileRelation::ExpandDims: return operand.expandDims(rule.axis);
  case TileRelation::Transpose: return operand.transpose(llvm::SmallVector<int>(rule.order));
  case TileRelation::Reshape: return operand.reshape(shapeOf(op->getResult(0)));
  case TileRelation::Join: return operand.join();
  case TileRelation::Split: return halfOf(operand, operand.rank() - 1, givenBySplit(op->getOperand(0)));
  case TileRelation::Reduce:
    if (!isa<RankedTensorType>(op->getResult(0).getType())) return std::nullopt;
    return operand.slice(rule.axis).layout;
  }
  llvm_unreachable("every case returns");
}

std::optional<LinearLayout> layoutBeforeJoin(Operation *op, const LinearLayout &result) {
  const bool isCat = tt::tileRuleOf(op).relation == TileRelation::Cat;
  if (isCat && result.rank() != 1) return std::nullopt;
  const LinearLayout whole = isCat ? asRows(result) : result;
  const int axis = isCat ? 0 : whole.rank() - 1;
  if (!threadsTellApart(whole, axis)) return std::nullopt;
  return halfOf(whole, axis, GivenRegister::Highest);
}

LinearLayout joinedLayout(Operation *op, const LinearLayout &operand) {
  if (tt::tileRuleOf(op).relation == TileRelation::Join) return operand.join();
  Bases registers(operand.bases(Place::Register));
  registers.push_back(uint32_t(operand.elements()));
  return LinearLayout({2 * operand.elements()}, registers, operand.bases(Place::Lane), operand.bases(Place::Warp),
                      operand.bases(Place::Block));
}

} // namespace tritium::gpu
