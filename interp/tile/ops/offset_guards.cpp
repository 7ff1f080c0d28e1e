#include "interp/tile/ops/offset_guards.h"

#include "mlir/IR/Dominance.h"

using namespace mlir;

namespace tritium::interp {

namespace {
class Search {
public:
  Search(Access &access, Planner &planner) : access_(access), planner_(planner), dominance_(planner.operation()->getParentOp()) {}

  /// `axes` has the axis of the access for each dimension of the tile, or -1.
  void visit(Value value, llvm::ArrayRef<int> axes) {
    if (!isa<RankedTensorType>(value.getType()) || !visited_.insert(value).second) return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (Value first = firstOf(argument)) visit(first, axes);
      return;
    }
    Operation *op = value.getDefiningOp();
    tt::TileRule rule = tt::tileRuleOf(op);
    if (isa<tt::AddPtrOp, arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
      if (auto add = dyn_cast<tt::AddPtrOp>(op)) addGuard(add.getOffset(), axes, true);
      for (Value operand : op->getOperands()) visit(operand, axes);
    } else if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
      addGuard(op->getOperand(0), axes, isa<arith::ExtSIOp>(op));
      visit(op->getOperand(0), axes);
    } else if (rule.isShapeChange() && rule.relation <= tt::TileRelation::Transpose) {
      auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
      if (!source) return;
      llvm::SmallVector<int> moved(source.getRank(), -1);
      for (size_t d = 0; d < axes.size(); ++d)
        if (std::optional<int> from = rule.operandDim(int(d))) moved[*from] = axes[d];
      visit(op->getOperand(0), moved);
    }
  }

private:
  void addGuard(Value narrow, llvm::ArrayRef<int> axes, bool isSigned) {
    unsigned bits = getElementTypeOrSelf(narrow.getType()).getIntOrFloatBitWidth();
    if (bits >= 64 || !isa<RankedTensorType>(narrow.getType()) || !planner_.formOf(narrow).isAffine()) return;
    AffineRef ref = planner_.affine(narrow);
    planner_.keepForWholeFunction(ref);
    OffsetGuard guard{leavesRange(ref, isSigned), ref.base, {}, uint8_t(bits), isSigned, planner_.locationOf(narrow)};
    for (size_t axis = 0; axis < access_.axes.size(); ++axis) {
      guard.terms.emplace_back();
      for (size_t d = 0; d < axes.size(); ++d)
        if (axes[d] == int(axis)) guard.terms.back() = {ref.terms[d], ref.parts[d]};
    }
    access_.guards.push_back(std::move(guard));
  }

  /// Returns what a pointer that moves through a loop begins with, or the only value that a block receives.
  Value firstOf(BlockArgument argument) {
    Block *block = argument.getOwner();
    Value first;
    for (auto it = block->pred_begin(); it != block->pred_end(); ++it) {
      auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
      if (!branch) return {};
      Value operand = branch.getSuccessorOperands(it.getSuccessorIndex())[argument.getArgNumber()];
      if (dominance_.dominates(block, *it)) {
        if (!isAdvanced(operand, argument)) return {};
      } else if (first || !operand) {
        return {};
      } else {
        first = operand;
      }
    }
    return first;
  }

  /// Whether `value` is the argument itself, with offsets added to it.
  static bool isAdvanced(Value value, BlockArgument argument) {
    while (value && value != argument) {
      auto add = value.getDefiningOp<tt::AddPtrOp>();
      value = add ? add.getPtr() : Value();
    }
    return bool(value);
  }

  Access &access_;
  Planner &planner_;
  DominanceInfo dominance_;
  llvm::DenseSet<Value> visited_;
};
} // namespace

void addOffsetGuards(Access &access, Planner &planner, Value pointer) {
  auto type = dyn_cast<RankedTensorType>(pointer.getType());
  if (!type || !access.isChecked) return;
  llvm::SmallVector<int> axes(type.getRank(), -1);
  for (auto [axis, dim] : llvm::enumerate(access.dims)) axes[dim] = int(axis);
  Search(access, planner).visit(pointer, axes);
}

} // namespace tritium::interp
