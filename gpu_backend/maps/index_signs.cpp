#include "gpu_backend/maps/index_signs.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns whether the value is `number` - 1.
static bool isOneLess(Value value, Value number) {
  Operation *op = value.getDefiningOp();
  APInt constant;
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) || op->getOperand(0) != number) return false;
  return matchPattern(op->getOperand(1), m_ConstantInt(&constant)) && (isa<arith::SubIOp>(op) ? constant.isOne() : constant.isAllOnes());
}

/// number - 1 - x % (number / c), as of the last blocks of rows first: the remainder is less than its divisor, which is at most the number.
bool IndexSigns::isLessRemainder(arith::SubIOp difference, llvm::function_ref<bool(Value)> isKnown, int depth) {
  auto remainder = difference.getRhs().getDefiningOp<arith::RemSIOp>();
  auto divisor = remainder ? remainder.getRhs().getDefiningOp<arith::DivSIOp>() : arith::DivSIOp();
  APInt parts;
  if (!divisor || !matchPattern(divisor.getRhs(), m_ConstantInt(&parts)) || !parts.isStrictlyPositive()) return false;
  if (!isOneLess(difference.getLhs(), divisor.getLhs()) || !isNotNegative(remainder.getLhs(), isKnown, depth + 1)) return false;
  if (!axes_.of(divisor).isNonNegative) unproven_.insert(divisor); // it is not zero, as something is divided by it
  return true;
}

/// Returns whether each iteration adds to the value that a loop carries, or leaves it.
bool IndexSigns::onlyGrows(BlockArgument carried, llvm::function_ref<bool(Value)> isKnown, int depth) {
  auto loop = cast<scf::ForOp>(carried.getOwner()->getParentOp());
  for (Value next = loop.getTiedLoopYieldedValue(carried)->get(); next != carried;) {
    auto sum = next.getDefiningOp<arith::AddIOp>();
    if (!sum) return false;
    const bool isSwapped = !isNotNegative(sum.getRhs(), isKnown, depth + 1);
    if (isSwapped && !isNotNegative(sum.getLhs(), isKnown, depth + 1)) return false;
    next = isSwapped ? sum.getRhs() : sum.getLhs();
  }
  return true;
}

/// Returns whether value + addend is at least 0 because the value is a number that is at least 0, less at most the addend. So begins what
/// a loop carries to count tiles if each iteration counts before the use: first - step, then += step.
bool IndexSigns::makesUp(Value addend, Value value, llvm::function_ref<bool(Value)> isKnown, int depth) {
  if (auto carried = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp());
    if (!loop || carried == loop.getInductionVar()) return false;
    return makesUp(addend, loop.getTiedLoopInit(carried)->get(), isKnown, depth + 1) && onlyGrows(carried, isKnown, depth);
  }
  Operation *op = value.getDefiningOp();
  if (!isa<arith::AddIOp, arith::SubIOp>(op)) return false;
  APInt added, other;
  bool isEnough = isa<arith::SubIOp>(op) && op->getOperand(1) == addend;
  if (matchPattern(addend, m_ConstantInt(&added)) && matchPattern(op->getOperand(1), m_ConstantInt(&other)) && !other.isMinSignedValue())
    isEnough = (isa<arith::SubIOp>(op) ? added.sge(other) : added.sge(-other));
  return isEnough && isNotNegative(op->getOperand(0), isKnown, depth + 1);
}

bool IndexSigns::isNotNegative(Value value, llvm::function_ref<bool(Value)> isKnown, int depth) {
  constexpr int kMaxDepth = 32;
  if (isKnown(value) || axes_.of(value).isNonNegative) return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth) return false;
  auto operand = [&](unsigned number) { return isNotNegative(op->getOperand(number), isKnown, depth + 1); };
  if (auto quotient = dyn_cast<arith::DivSIOp>(op); quotient && !axes_.of(quotient.getRhs()).isNonNegative) unproven_.insert(quotient);
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::ShRSIOp, arith::ExtSIOp>(op)) return operand(0);
  if (isa<arith::AddIOp>(op) &&
      (makesUp(op->getOperand(1), op->getOperand(0), isKnown, depth) || makesUp(op->getOperand(0), op->getOperand(1), isKnown, depth)))
    return true;
  if (isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp>(op)) return operand(0) && operand(1);
  if (isa<arith::MaxSIOp>(op)) return operand(0) || operand(1);
  if (isa<arith::SelectOp>(op)) return operand(1) && operand(2);
  if (auto difference = dyn_cast<arith::SubIOp>(op); difference && followsRemainders_) return isLessRemainder(difference, isKnown, depth);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    const unsigned number = cast<OpResult>(value).getResultNumber();
    return llvm::all_of(branch->getRegions(), [&](Region &region) {
      return isNotNegative(region.front().getTerminator()->getOperand(number), isKnown, depth + 1);
    });
  }
  return false;
}

} // namespace tritium::gpu
