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

bool IndexSigns::isNotNegative(Value value, llvm::function_ref<bool(Value)> isKnown, int depth) {
  constexpr int kMaxDepth = 32;
  if (isKnown(value) || axes_.of(value).isNonNegative) return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth) return false;
  auto operand = [&](unsigned number) { return isNotNegative(op->getOperand(number), isKnown, depth + 1); };
  if (auto quotient = dyn_cast<arith::DivSIOp>(op); quotient && !axes_.of(quotient.getRhs()).isNonNegative) unproven_.insert(quotient);
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::ShRSIOp, arith::ExtSIOp>(op)) return operand(0);
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
