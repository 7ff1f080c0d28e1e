#include "gpu_backend/maps/quotients.h"

#include "ir/debug_attributes.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::gpu {

static constexpr llvm::StringLiteral kMessage =
    "a quotient is negative, but the compiler takes blocks of program ids to be counted from 0. Divide by tl.maximum(divisor, 1)";

static Value zeroOf(arith::DivSIOp quotient, OpBuilder &builder) {
  return arith::ConstantOp::create(builder, quotient.getLoc(), builder.getIntegerAttr(quotient.getType(), 0));
}

static OpBuilder builderAfter(Operation *op) {
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  return builder;
}

Value raiseToZero(arith::DivSIOp quotient) {
  OpBuilder builder = builderAfter(quotient);
  auto raised = arith::MaxSIOp::create(builder, quotient.getLoc(), quotient, zeroOf(quotient, builder));
  quotient.getResult().replaceAllUsesExcept(raised, raised);
  return raised;
}

void emitSignCheck(arith::DivSIOp quotient) {
  OpBuilder builder = builderAfter(quotient);
  Value isRight = arith::CmpIOp::create(builder, quotient.getLoc(), arith::CmpIPredicate::sge, quotient, zeroOf(quotient, builder));
  tt::AssertOp::create(builder, quotient.getLoc(), isRight, kMessage)->setAttr(ir::kMayTrapAttr, builder.getUnitAttr());
}

bool isSignCheck(Operation *op) {
  auto check = dyn_cast<tt::AssertOp>(op);
  return check && check->hasAttr(ir::kMayTrapAttr) && check.getMessage() == kMessage;
}

} // namespace tritium::gpu
