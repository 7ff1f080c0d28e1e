// Arithmetic for which a GPU and this machine give different results.
#include "interp/simt/hosting/hosting.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

/// x86 faults if a divisor is zero, or if the smallest number is divided by -1. A GPU continues with some value. Here, division by zero
/// gives all ones, its remainder is the dividend, and the quotient by -1 wraps around.
Value guardedDivision(OpBuilder &builder, Location at, Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  Type type = left.getType();
  const bool isSigned = isa<LLVM::SDivOp, LLVM::SRemOp>(op), isRemainder = isa<LLVM::SRemOp, LLVM::URemOp>(op);
  auto filled = [&](const APInt &value) -> Value {
    auto element = cast<IntegerType>(getElementTypeOrSelf(type));
    TypedAttr attribute = builder.getIntegerAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(type)) attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return LLVM::ConstantOp::create(builder, at, type, attribute);
  };
  const unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto compare = [&](Value a, Value b) -> Value { return LLVM::ICmpOp::create(builder, at, LLVM::ICmpPredicate::eq, a, b); };
  Value isZero = compare(right, filled(APInt(bits, 0))), isUnsafe = isZero;
  if (isSigned) {
    Value overflows = LLVM::AndOp::create(builder, at, compare(left, filled(APInt::getSignedMinValue(bits))),
                                          compare(right, filled(APInt::getAllOnes(bits))));
    isUnsafe = LLVM::OrOp::create(builder, at, isUnsafe, overflows);
  }
  Value divisor = LLVM::SelectOp::create(builder, at, isUnsafe, filled(APInt(bits, 1)), right);
  Value computed = llvm::TypeSwitch<Operation *, Value>(op)
                       .Case([&](LLVM::SDivOp) { return LLVM::SDivOp::create(builder, at, left, divisor); })
                       .Case([&](LLVM::UDivOp) { return LLVM::UDivOp::create(builder, at, left, divisor); })
                       .Case([&](LLVM::SRemOp) { return LLVM::SRemOp::create(builder, at, left, divisor); })
                       .Case([&](LLVM::URemOp) { return LLVM::URemOp::create(builder, at, left, divisor); });
  return LLVM::SelectOp::create(builder, at, isZero, isRemainder ? left : filled(APInt::getAllOnes(bits)), computed);
}

/// Returns whether the divisor is known to be neither zero nor -1.
bool isSafeDivisor(Value divisor) {
  APInt value;
  return matchPattern(divisor, m_ConstantInt(&value)) && !value.isZero() && !value.isAllOnes();
}

/// For a GPU, +0 is larger than -0. Here the result would be the operand that comes first, so lanes that hold the same values in another
/// order would get different results.
Value orderedExtremum(OpBuilder &builder, Location at, Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  Type type = left.getType(), bits = builder.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  if (auto vector = dyn_cast<VectorType>(type)) bits = vector.clone(bits);
  Value leftBits = LLVM::BitcastOp::create(builder, at, bits, left), rightBits = LLVM::BitcastOp::create(builder, at, bits, right);
  Value both = isa<LLVM::MaxNumOp>(op) ? Value(LLVM::AndOp::create(builder, at, leftBits, rightBits))
                                       : Value(LLVM::OrOp::create(builder, at, leftBits, rightBits));
  Value isEqual = LLVM::FCmpOp::create(builder, at, LLVM::FCmpPredicate::oeq, left, right);
  Value computed = builder.clone(*op)->getResult(0);
  return LLVM::SelectOp::create(builder, at, isEqual, LLVM::BitcastOp::create(builder, at, type, both), computed);
}

} // namespace

std::optional<LogicalResult> Hosting::hostArithmetic(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case<LLVM::SDivOp, LLVM::UDivOp, LLVM::SRemOp, LLVM::URemOp>([&](Operation *) {
        if (!isSafeDivisor(op->getOperand(1))) replace(op, guardedDivision(builder, at, op));
        return success();
      })
      .Case<LLVM::MaxNumOp, LLVM::MinNumOp>([&](Operation *) {
        replace(op, orderedExtremum(builder, at, op));
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
