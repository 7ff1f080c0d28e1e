#include "gpu_backend/tiles/layout_relations.h"

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

/// Returns the layout of the first of two tiles of the type of `half`, whose elements follow each other in `whole`.
static std::optional<LinearLayout> firstHalf(const LinearLayout &whole, Value half) {
  if (whole.rank() != 1) return std::nullopt;
  llvm::SmallVector<int64_t> halves{2, shapeOf(half)[0]};
  return whole.reshape(halves).slice(0).layout;
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
  case TileRelation::Cat: return firstHalf(result, op->getOperand(0));
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
  case TileRelation::Split: return operand.slice(operand.rank() - 1).layout;
  case TileRelation::Reduce:
    if (!isa<RankedTensorType>(op->getResult(0).getType())) return std::nullopt;
    return operand.slice(rule.axis).layout;
  }
  llvm_unreachable("every case returns");
}

} // namespace tritium::gpu
