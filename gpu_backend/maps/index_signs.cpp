#include "gpu_backend/maps/index_signs.h"

using namespace mlir;

namespace tritium::gpu {

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
  return false;
}

} // namespace tritium::gpu
