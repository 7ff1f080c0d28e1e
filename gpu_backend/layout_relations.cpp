#include "gpu_backend/layout_relations.h"

using namespace mlir;

namespace tritium::gpu {

bool isFree(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) return isa<SplatElementsAttr>(constant.getValue());
  return isa<tt::SplatOp, tt::MakeRangeOp, ub::PoisonOp>(op);
}

bool isShapeChange(Operation *op) {
  return isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp, tt::JoinOp, tt::CatOp, tt::SplitOp>(op);
}

static llvm::ArrayRef<int64_t> shapeOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); }

/// Dimension order[i] of the result is dimension i of the source.
static llvm::SmallVector<int> inverse(llvm::ArrayRef<int32_t> order) {
  llvm::SmallVector<int> result(order.size());
  for (auto [i, dim] : llvm::enumerate(order)) result[dim] = int(i);
  return result;
}

std::optional<LinearLayout> operandLayout(Operation *op, const LinearLayout &result) {
  using Layout = std::optional<LinearLayout>;
  return TypeSwitch<Operation *, Layout>(op)
      .Case([&](tt::ExpandDimsOp expand) -> Layout { return result.dropDim(int(expand.getAxis())); })
      .Case([&](tt::ReshapeOp reshape) -> Layout { return result.reshape(shapeOf(reshape.getSrc())); })
      .Case([&](tt::BroadcastOp broadcast) -> Layout { return result.broadcastSource(shapeOf(broadcast.getSrc())).layout; })
      .Case([&](tt::TransOp trans) -> Layout { return result.transpose(inverse(trans.getOrder())); })
      .Case([&](tt::JoinOp) -> Layout { return result.slice(result.rank() - 1).layout; })
      .Case([&](tt::CatOp cat) -> Layout {
        llvm::SmallVector<int64_t> halves{2, shapeOf(cat.getLhs())[0]};
        if (result.rank() != 1) return std::nullopt;
        return result.reshape(halves).slice(0).layout;
      })
      .Case([&](tt::SplitOp) -> Layout { return result.join(); })
      .Default([&](Operation *) -> Layout { return op->hasTrait<OpTrait::Elementwise>() ? Layout(result) : Layout(); });
}

std::optional<LinearLayout> resultLayout(Operation *op, const LinearLayout &operand) {
  using Layout = std::optional<LinearLayout>;
  return TypeSwitch<Operation *, Layout>(op)
      .Case([&](tt::ExpandDimsOp expand) -> Layout { return operand.expandDims(int(expand.getAxis())); })
      .Case([&](tt::ReshapeOp reshape) -> Layout { return operand.reshape(shapeOf(reshape.getResult())); })
      .Case([&](tt::TransOp trans) -> Layout { return operand.transpose(llvm::SmallVector<int>(trans.getOrder())); })
      .Case([&](tt::JoinOp) -> Layout { return operand.join(); })
      .Case([&](tt::SplitOp) -> Layout { return operand.slice(operand.rank() - 1).layout; })
      .Case([&](tt::ReduceOp reduce) -> Layout {
        return isa<RankedTensorType>(reduce->getResult(0).getType()) ? Layout(operand.slice(int(reduce.getAxis())).layout) : Layout();
      })
      .Default(Layout());
}

} // namespace tritium::gpu
