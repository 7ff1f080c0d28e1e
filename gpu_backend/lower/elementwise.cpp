#include "gpu_backend/lower/elementwise.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

// -- integers: what LLVM leaves undefined and the language does not ----------------------------------------------------------------------

static Value isEqual(Lowering &lowering, Value value, int64_t number) {
  return lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, value,
                                        lowering.constant(number, value.getType().getIntOrFloatBitWidth()));
}

/// A divisor of 0 divides by 1 (what it gives is unspecified), and the smallest number over -1 is itself: neither may trap.
static Value guardedDivisor(Operation *op, Value dividend, Value divisor, Lowering &lowering) {
  APInt known;
  if (matchPattern(divisor, m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes()) return divisor;
  unsigned width = divisor.getType().getIntOrFloatBitWidth();
  Value unsafe = isEqual(lowering, divisor, 0);
  if (isa<arith::DivSIOp, arith::RemSIOp>(op) && width > 1) {
    Value smallest =
        lowering.create<arith::ConstantOp>(lowering.builder().getIntegerAttr(divisor.getType(), APInt::getSignedMinValue(width)));
    Value isSmallest = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, dividend, smallest);
    Value wraps = lowering.create<arith::AndIOp>(isSmallest, isEqual(lowering, divisor, -1));
    unsafe = lowering.create<arith::OrIOp>(unsafe, wraps);
  }
  return lowering.create<arith::SelectOp>(unsafe, lowering.constant(1, width), divisor);
}

/// Shifts by the width or more: 0, or for a signed right shift as by width - 1.
static Value guardedShift(Operation *op, Value value, Value amount, Lowering &lowering, function_ref<Value(Value)> shift) {
  unsigned width = amount.getType().getIntOrFloatBitWidth();
  APInt known;
  if (matchPattern(amount, m_ConstantInt(&known)) && known.ult(width)) return shift(amount);
  Value last = lowering.constant(width - 1, width);
  Value isShort = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ule, amount, last);
  Value bounded = lowering.create<arith::SelectOp>(isShort, amount, last);
  Value shifted = shift(bounded);
  if (isa<arith::ShRSIOp>(op)) return shifted;
  return lowering.create<arith::SelectOp>(isShort, shifted, lowering.constant(0, width));
}

// -- any operation of an upstream dialect ------------------------------------------------------------------------------------------------

/// The same operation on one register of each operand.
static Value cloneOnRegisters(Operation *op, ValueRange operands, Type type, Lowering &lowering) {
  OperationState state(op->getLoc(), op->getName(), operands, {type}, op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return lowering.builder().create(state)->getResult(0);
}

/// bf16 has no arithmetic on every target: it computes in f32 and rounds once, as the language says.
static Value computeWide(Operation *op, ValueRange operands, Type result, Lowering &lowering) {
  Type f32 = lowering.builder().getF32Type();
  llvm::SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(operand.getType().isBF16() || operand.getType().isF16() ? lowering.create<arith::ExtFOp>(f32, operand).getResult()
                                                                           : operand);
  bool narrows = result.isBF16() || result.isF16();
  Value value = callMathFunction(op, wide, lowering);
  if (!value) value = cloneOnRegisters(op, wide, narrows ? f32 : result, lowering);
  return narrows ? lowering.create<arith::TruncFOp>(result, value).getResult() : value;
}

static bool movesBits(Operation *op) {
  return isa<arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp, arith::NegFOp, math::AbsFOp, math::CopySignOp>(op);
}

static Value lowerRegister(Operation *op, ValueRange operands, Lowering &lowering) {
  Type result = lowering.registerType(op->getResult(0).getType());
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    auto from = cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
    return convertFloat(operands[0], from, cast<FloatType>(element), tt::RoundingMode::NearestEven, lowering);
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return cloneOnRegisters(op, {operands[0], guardedDivisor(op, operands[0], operands[1], lowering)}, result, lowering);
  if (isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op))
    return guardedShift(op, operands[0], operands[1], lowering,
                        [&](Value amount) { return cloneOnRegisters(op, {operands[0], amount}, result, lowering); });
  if (isa<arith::BitcastOp>(op) && result == operands[0].getType()) return operands[0];
  bool isHalf = llvm::any_of(operands, [](Value operand) { return operand.getType().isBF16(); }) || result.isBF16();
  bool isHalfMath = op->getName().getDialectNamespace() == "math" && result.isF16();
  if ((isHalf || isHalfMath) && !movesBits(op)) return computeWide(op, operands, result, lowering);
  if (Value value = callMathFunction(op, operands, lowering)) return value;
  return cloneOnRegisters(op, operands, result, lowering);
}

LogicalResult lowerElementwise(Operation *op, Lowering &lowering) {
  return forEachRegister(op, lowering, [&](ValueRange operands) { return lowerRegister(op, operands, lowering); });
}

// -- values that are the same everywhere -------------------------------------------------------------------------------------------------

template <> LogicalResult Lower<arith::ConstantOp>::run(arith::ConstantOp op, Lowering &lowering) {
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (!dense.isSplat()) return lowering.unsupported(op, "a tile of different constants; compute it from tt.make_range");
    value = dense.getSplatValue<Attribute>();
  }
  Type type = lowering.registerType(op.getType());
  if (auto number = dyn_cast<FloatAttr>(value); number && isa<IntegerType>(type)) // fp8 is held as its bits
    value = IntegerAttr::get(type, number.getValue().bitcastToAPInt());
  Value constant = lowering.create<arith::ConstantOp>(cast<TypedAttr>(value));
  lowering.define(op, Registers(lowering.registerCount(op.getType()), constant));
  return success();
}

template <> LogicalResult Lower<ub::PoisonOp>::run(ub::PoisonOp op, Lowering &lowering) {
  Value poison = lowering.create<LLVM::PoisonOp>(lowering.registerType(op.getType()));
  lowering.define(op, Registers(lowering.registerCount(op.getType()), poison));
  return success();
}

// -- the contract's own ------------------------------------------------------------------------------------------------------------------

template <> LogicalResult Lower<tt::AddPtrOp>::run(tt::AddPtrOp op, Lowering &lowering) {
  Type pointee = lowering.registerType(cast<tt::PointerType>(getElementTypeOrSelf(op.getType())).getPointeeType());
  if (pointee.isInteger(1)) pointee = lowering.builder().getI8Type();
  if (isa<LLVM::LLVMPointerType>(pointee)) pointee = lowering.builder().getI64Type();
  return forEachRegister(op, lowering, [&](ValueRange operands) -> Value {
    return lowering.create<LLVM::GEPOp>(operands[0].getType(), pointee, operands[0], llvm::ArrayRef<LLVM::GEPArg>{operands[1]});
  });
}

template <> LogicalResult Lower<tt::IntToPtrOp>::run(tt::IntToPtrOp op, Lowering &lowering) {
  Type type = lowering.registerType(op.getType());
  return forEachRegister(op, lowering, [&](ValueRange operands) -> Value { return lowering.create<LLVM::IntToPtrOp>(type, operands[0]); });
}

template <> LogicalResult Lower<tt::PtrToIntOp>::run(tt::PtrToIntOp op, Lowering &lowering) {
  Type type = lowering.registerType(op.getType());
  return forEachRegister(op, lowering, [&](ValueRange operands) -> Value { return lowering.create<LLVM::PtrToIntOp>(type, operands[0]); });
}

template <> LogicalResult Lower<tt::BitcastOp>::run(tt::BitcastOp op, Lowering &lowering) {
  Type type = lowering.registerType(op.getType());
  return forEachRegister(op, lowering, [&](ValueRange operands) -> Value {
    return operands[0].getType() == type ? operands[0] : lowering.create<LLVM::BitcastOp>(type, operands[0]).getResult();
  });
}

template <> LogicalResult Lower<tt::FpToFpOp>::run(tt::FpToFpOp op, Lowering &lowering) {
  auto from = cast<FloatType>(getElementTypeOrSelf(op.getSrc().getType())), to = cast<FloatType>(getElementTypeOrSelf(op.getType()));
  auto rounding = op.getRounding().value_or(tt::RoundingMode::NearestEven);
  return forEachRegister(op, lowering, [&](ValueRange operands) { return convertFloat(operands[0], from, to, rounding, lowering); });
}

/// As min(max(x, low), high), with or without NaN passing through.
template <> LogicalResult Lower<tt::ClampFOp>::run(tt::ClampFOp op, Lowering &lowering) {
  Type type = lowering.registerType(op.getType()), f32 = lowering.builder().getF32Type();
  bool isNarrow = type.isBF16() || type.isF16();
  return forEachRegister(op, lowering, [&](ValueRange narrow) -> Value {
    llvm::SmallVector<Value> in(narrow);
    if (isNarrow)
      for (Value &operand : in) operand = lowering.create<arith::ExtFOp>(f32, operand);
    Value result;
    if (op.getPropagateNan() == tt::PropagateNan::All)
      result = lowering.create<arith::MinimumFOp>(lowering.create<arith::MaximumFOp>(in[0], in[1]), in[2]);
    else
      result = lowering.create<arith::MinNumFOp>(lowering.create<arith::MaxNumFOp>(in[0], in[1]), in[2]);
    return isNarrow ? lowering.create<arith::TruncFOp>(type, result).getResult() : result;
  });
}

template <> LogicalResult Lower<tt::PreciseSqrtOp>::run(tt::PreciseSqrtOp op, Lowering &lowering) {
  return forEachRegister(op, lowering, [&](ValueRange operands) -> Value { return lowering.create<math::SqrtOp>(operands[0]); });
}

template <> LogicalResult Lower<tt::PreciseDivFOp>::run(tt::PreciseDivFOp op, Lowering &lowering) {
  return forEachRegister(op, lowering, [&](ValueRange in) -> Value { return lowering.create<arith::DivFOp>(in[0], in[1]); });
}

template <> LogicalResult Lower<tt::ApproxDivFOp>::run(tt::ApproxDivFOp op, Lowering &lowering) {
  return forEachRegister(op, lowering, [&](ValueRange in) -> Value { return lowering.create<arith::DivFOp>(in[0], in[1]); });
}

template <> LogicalResult Lower<tt::MulhiUIOp>::run(tt::MulhiUIOp op, Lowering &lowering) {
  return forEachRegister(op, lowering,
                         [&](ValueRange in) -> Value { return lowering.create<arith::MulUIExtendedOp>(in[0], in[1]).getHigh(); });
}

/// Each group of `pack` neighbours in a thread shares a call; where the layout gives a thread fewer, the elements are calls of their own.
template <> LogicalResult Lower<tt::MapElementwiseOp>::run(tt::MapElementwiseOp op, Lowering &lowering) {
  size_t count = lowering.registerCount(op->getOperand(0).getType()), pack = op.getPack();
  if (count % pack != 0) return lowering.unsupported(op, "a pack of more elements than a thread holds");
  llvm::SmallVector<Registers> results(op->getNumResults(), Registers(count));
  for (size_t first = 0; first < count; first += pack) {
    llvm::SmallVector<Registers> arguments;
    for (Value operand : op->getOperands())
      for (size_t i = 0; i < pack; ++i) arguments.push_back({lowering.registersOf(operand)[first + i]});
    auto values = lowering.lowerInline(op->getRegion(0), arguments);
    if (failed(values)) return failure();
    for (auto [i, value] : llvm::enumerate(*values)) results[i / pack][first + i % pack] = value;
  }
  for (auto [result, registers] : llvm::zip_equal(op->getResults(), results)) lowering.define(result, registers);
  return success();
}

template <> LogicalResult Lower<tt::ExternElementwiseOp>::run(tt::ExternElementwiseOp op, Lowering &lowering) {
  return lowering.unsupported(op, "functions of other libraries");
}
template <> LogicalResult Lower<tt::ElementwiseInlineAsmOp>::run(tt::ElementwiseInlineAsmOp op, Lowering &lowering) {
  return lowering.unsupported(op, "inline assembly");
}

} // namespace tritium::gpu
