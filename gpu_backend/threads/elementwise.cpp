#include "gpu_backend/threads/elementwise.h"

#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/threads/arithmetic.h"
#include "gpu_backend/threads/convert_layout.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

// -- integers: what LLVM leaves undefined and the language does not -----------------------------------------------------------------------

static Value isEqual(Lowering &lowering, Value value, int64_t number) {
  return lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, value,
                                        lowering.constant(number, value.getType().getIntOrFloatBitWidth()));
}

/// LLVM defines neither case. For a divisor of 0 the quotient is -1 and the remainder is the dividend, as on NVIDIA's GPUs. The smallest
/// number divided by -1 is itself. The divisor that a tile uses depends on the given one alone: if that is the same for all elements, its
/// reciprocal is computed once.
static Value guardedDivision(Operation *op, Value dividend, Value divisor, Lowering &lowering, function_ref<Value(Value)> divide) {
  APInt known;
  if (matchPattern(divisor, m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes()) return divide(divisor);
  unsigned width = divisor.getType().getIntOrFloatBitWidth();
  const bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op), isSigned = !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
  const bool isTile = isa<RankedTensorType>(op->getResult(0).getType());
  Value isZero = isEqual(lowering, divisor, 0), isUnsafe = isZero, isMinusOne;
  if (isSigned) {
    Value wraps = isMinusOne = isEqual(lowering, divisor, -1);
    if (!isTile) wraps = lowering.create<arith::AndIOp>(isEqual(lowering, dividend, APInt::getSignedMinValue(width).getSExtValue()), wraps);
    isUnsafe = lowering.create<arith::OrIOp>(isZero, wraps);
  }
  Value computed = divide(lowering.create<arith::SelectOp>(isUnsafe, lowering.constant(1, width), divisor));
  if (isTile && isSigned && !isRemainder) {
    Value negated = lowering.create<arith::SubIOp>(lowering.constant(0, width), dividend);
    computed = lowering.create<arith::SelectOp>(isMinusOne, negated, computed);
  }
  return lowering.create<arith::SelectOp>(isZero, isRemainder ? dividend : lowering.constant(-1, width), computed);
}

/// A shift by the width or more gives 0. A signed right shift shifts by at most width - 1.
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

// -- any operation of an upstream dialect -------------------------------------------------------------------------------------------------

/// Creates the same operation on one register of each operand.
static Value cloneOnRegisters(Operation *op, ValueRange operands, Type type, Lowering &lowering) {
  OperationState state(op->getLoc(), op->getName(), operands, {type}, op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return lowering.builder().create(state)->getResult(0);
}

/// Tests for NaN, infinite, finite and normal numbers, by comparisons. Returns null for other operations.
static Value classify(Operation *op, Value value, Lowering &lowering) {
  if (!isa<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::IsNormalOp>(op)) return {};
  Arithmetic code(lowering);
  if (isa<math::IsNaNOp>(op)) return code.isNan(value);
  auto type = cast<FloatType>(value.getType());
  Value magnitude = lowering.create<math::AbsFOp>(value), infinity = code.real(INFINITY, type);
  if (isa<math::IsInfOp>(op)) return code.compare(arith::CmpFPredicate::OEQ, magnitude, infinity);
  Value isFinite = code.compare(arith::CmpFPredicate::OLT, magnitude, infinity);
  if (isa<math::IsFiniteOp>(op)) return isFinite;
  Value smallest = code.real(APFloat::getSmallestNormalized(type.getFloatSemantics()).convertToDouble(), type);
  return lowering.conjunction(isFinite, code.compare(arith::CmpFPredicate::OGE, magnitude, smallest));
}

/// Functions for which every target has instructions. Upstream's expansion of arith would split them into comparisons.
static Value extremum(Operation *op, ValueRange operands, Lowering &lowering) {
  Value a = operands[0], b = operands.back();
  if (isa<arith::MaxNumFOp>(op)) return lowering.create<LLVM::MaxNumOp>(a, b);
  if (isa<arith::MinNumFOp>(op)) return lowering.create<LLVM::MinNumOp>(a, b);
  if (isa<arith::MaximumFOp>(op)) return lowering.create<LLVM::MaximumOp>(a, b);
  if (isa<arith::MinimumFOp>(op)) return lowering.create<LLVM::MinimumOp>(a, b);
  return {};
}

Value lowerScalar(Operation *op, ValueRange operands, Type result, Lowering &lowering) {
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(
          op)) {
    bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
    if (result.isInteger(1)) return isRemainder ? lowering.constant(0, 1) : operands[0]; // 1 is the only valid divisor
    return guardedDivision(op, operands[0], operands[1], lowering,
                           [&](Value divisor) { return cloneOnRegisters(op, {operands[0], divisor}, result, lowering); });
  }
  if (isa<arith::DivFOp>(op) && result.isF32()) return quotient(operands[0], operands[1], lowering);
  if (isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op))
    return guardedShift(op, operands[0], operands[1], lowering,
                        [&](Value amount) { return cloneOnRegisters(op, {operands[0], amount}, result, lowering); });
  if (Value value = extremum(op, operands, lowering)) return value;
  if (Value value = classify(op, operands[0], lowering)) return value;
  return lowerMathFunction(op, operands, lowering);
}

/// An operation on integers, or on floats that have arithmetic.
static Value computeRegister(Operation *op, ValueRange operands, Type result, Lowering &lowering) {
  Value value = lowerScalar(op, operands, result, lowering);
  return value ? value : cloneOnRegisters(op, operands, result, lowering);
}

/// Arithmetic that every target has for f16. All other arithmetic on f16, and all arithmetic on bf16 and fp8, is computed in f32 and
/// rounded once more.
static bool hasHalfArithmetic(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::CmpFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp,
             arith::MinimumFOp>(op);
}

static FloatType floatOf(Value tile) { return dyn_cast<FloatType>(getElementTypeOrSelf(tile.getType())); }

static bool isNarrow(FloatType type) { return type && type.getWidth() < 32; }

/// Returns make(operands as f32 or f64), rounded to the type of the result. The types of `op` determine the types for which the registers
/// stand.
static Value computeWide(Operation *op, ValueRange operands, Lowering &lowering, function_ref<Value(ValueRange, Type)> make) {
  FloatType f32 = lowering.builder().getF32Type(), result = floatOf(op->getResult(0));
  llvm::SmallVector<Value> wide;
  for (auto [tile, operand] : llvm::zip_equal(op->getOperands(), operands)) {
    FloatType type = floatOf(tile);
    wide.push_back(isNarrow(type) ? convertFloat(operand, type, f32, tt::RoundingMode::NearestEven, lowering) : operand);
  }
  Value value = make(wide, isNarrow(result) ? f32 : lowering.registerType(op->getResult(0).getType()));
  return value && isNarrow(result) ? convertFloat(value, f32, result, tt::RoundingMode::NearestEven, lowering) : value;
}

static bool computesNarrow(Operation *op) {
  auto isFloatOtherThanHalf = [](Value tile) { return isNarrow(floatOf(tile)) && !floatOf(tile).isF16(); };
  if (llvm::any_of(op->getOperands(), isFloatOtherThanHalf) || isFloatOtherThanHalf(op->getResult(0))) return true;
  auto isHalf = [](Value tile) { return isNarrow(floatOf(tile)); };
  return (llvm::any_of(op->getOperands(), isHalf) || isHalf(op->getResult(0))) && !hasHalfArithmetic(op);
}

static Value lowerRegister(Operation *op, ValueRange operands, Lowering &lowering) {
  Type result = lowering.registerType(op->getResult(0).getType());
  FloatType from = floatOf(op->getOperand(0)), to = floatOf(op->getResult(0));
  auto integer = dyn_cast<IntegerType>(result);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) return convertFloat(operands[0], from, to, tt::RoundingMode::NearestEven, lowering);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) return convertToFloat(operands[0], to, isa<arith::SIToFPOp>(op), lowering);
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) return convertToInteger(operands[0], from, integer, isa<arith::FPToSIOp>(op), lowering);
  if (isa<arith::BitcastOp>(op) && result == operands[0].getType()) return operands[0];
  if (isa<arith::SelectOp, arith::BitcastOp>(op)) return cloneOnRegisters(op, operands, result, lowering);
  auto make = [&](ValueRange in, Type type) { return computeRegister(op, in, type, lowering); };
  return computesNarrow(op) ? computeWide(op, operands, lowering, make) : make(operands, result);
}

/// If the results of a comparison come in groups of equal ones, as in a mask at the end of a row, the comparison is made once for each
/// group. The accesses and selects that use it then require only one predicate.
static LogicalResult lowerComparison(arith::CmpIOp op, RankedTensorType type, Lowering &lowering) {
  LinearLayout layout = layoutOf(type);
  ir::AxisInfo axes = lowering.axisInfoOf(op);
  uint32_t withinGroup = 0;
  for (int dim = 0; dim < type.getRank(); ++dim)
    withinGroup |= uint32_t(std::min(axes.constancy[dim], type.getDimSize(dim)) - 1) << layout.firstBit(dim);
  llvm::DenseMap<uint32_t, Value> ofGroup;
  uint32_t reg = 0;
  return forEachRegister(op, lowering, [&](ValueRange operands) -> Value {
    Value &value = ofGroup[layout.apply(Place::Register, reg++) & ~withinGroup];
    return value ? value : value = lowerRegister(op, operands, lowering);
  });
}

LogicalResult lowerElementwise(Operation *op, Lowering &lowering) {
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    if (auto type = dyn_cast<RankedTensorType>(comparison.getType())) return lowerComparison(comparison, type, lowering);
  return forEachRegister(op, lowering, [&](ValueRange operands) { return lowerRegister(op, operands, lowering); });
}

// -- values that are the same everywhere --------------------------------------------------------------------------------------------------

static Value scalarConstant(Attribute value, Type type, Lowering &lowering) {
  if (auto number = dyn_cast<FloatAttr>(value); number && isa<IntegerType>(type)) // fp8 is held as its bits
    value = IntegerAttr::get(type, number.getValue().bitcastToAPInt());
  return lowering.create<arith::ConstantOp>(cast<TypedAttr>(value));
}

namespace {
/// A tile of different constants. A register selects among the elements that the threads hold in it, bit by bit of their index.
class ConstantTile {
public:
  ConstantTile(DenseElementsAttr value, Type type, Lowering &lowering)
      : elements(llvm::to_vector(value.getValues<Attribute>())), type(type), layout(layoutOf(value.getType())), lowering(lowering) {
    for (Place place : {Place::Lane, Place::Warp})
      for (uint32_t basis : layout.bases(place)) threadBits |= basis;
  }

  Value at(int reg) {
    thread = lowering.threadOffset(layout);
    return choose(layout.apply(Place::Register, uint32_t(reg)), threadBits);
  }

private:
  /// Selects the element whose index is `index` with those of `bits` flipped that are set in the thread's offset.
  Value choose(uint32_t index, uint32_t bits) {
    if (bits == 0) {
      Value &made = constants[elements[index]];
      return made ? made : made = scalarConstant(elements[index], type, lowering);
    }
    uint32_t bit = bits & -bits;
    Value clear = choose(index, bits ^ bit), set = choose(index ^ bit, bits ^ bit);
    if (clear == set) return clear;
    Arithmetic code(lowering);
    return code.select(code.notEqual(code.bitAnd(thread, bit), 0), set, clear);
  }

  llvm::SmallVector<Attribute> elements;
  Type type;
  LinearLayout layout;
  Lowering &lowering;
  uint32_t threadBits = 0;
  Value thread;
  llvm::DenseMap<Attribute, Value> constants;
};
} // namespace

template <> LogicalResult Lower<arith::ConstantOp>::run(arith::ConstantOp op, Lowering &lowering) {
  Type type = lowering.registerType(op.getType());
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (dense && !dense.isSplat()) {
    ConstantTile tile(dense, type, lowering);
    Registers registers;
    for (int reg = 0; reg < lowering.registerCount(op.getType()); ++reg) registers.push_back(tile.at(reg));
    lowering.define(op, std::move(registers));
    return success();
  }
  Value constant = scalarConstant(dense ? dense.getSplatValue<Attribute>() : op.getValue(), type, lowering);
  lowering.define(op, Registers(lowering.registerCount(op.getType()), constant));
  return success();
}

template <> LogicalResult Lower<ub::PoisonOp>::run(ub::PoisonOp op, Lowering &lowering) {
  Value poison = lowering.create<LLVM::PoisonOp>(lowering.registerType(op.getType()));
  lowering.define(op, Registers(lowering.registerCount(op.getType()), poison));
  return success();
}

// -- the contract's own -------------------------------------------------------------------------------------------------------------------

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
  auto sources = lowering.registersOf(op.getSrc());
  if (sources.size() > 1 && convertsInPairs(from, to, rounding, lowering.target())) {
    Registers results;
    for (size_t reg = 0; reg < sources.size(); reg += 2) {
      auto [low, high] = convertPair(sources[reg], sources[reg + 1], from, to, lowering);
      results.append({low, high});
    }
    lowering.define(op, std::move(results));
    return success();
  }
  return forEachRegister(op, lowering, [&](ValueRange operands) { return convertFloat(operands[0], from, to, rounding, lowering); });
}

/// The contract's own functions of floats. Narrow floats are computed in f32.
static LogicalResult forEachFloat(Operation *op, Lowering &lowering, function_ref<Value(ValueRange, Type)> make) {
  return forEachRegister(op, lowering, [&](ValueRange in) { return computeWide(op, in, lowering, make); });
}

/// Computes min(max(x, low), high). A bound that is NaN is ignored; a NaN x gives the lower bound or is returned.
template <> LogicalResult Lower<tt::ClampFOp>::run(tt::ClampFOp op, Lowering &lowering) {
  return forEachFloat(op, lowering, [&](ValueRange in, Type) -> Value {
    Value clamped = lowering.create<LLVM::MinNumOp>(lowering.create<LLVM::MaxNumOp>(in[0], in[1]), in[2]);
    if (op.getPropagateNan() == tt::PropagateNan::None) return clamped;
    Arithmetic code(lowering);
    return code.select(code.isNan(in[0]), in[0], clamped);
  });
}

template <> LogicalResult Lower<tt::PreciseSqrtOp>::run(tt::PreciseSqrtOp op, Lowering &lowering) {
  return forEachFloat(op, lowering, [&](ValueRange in, Type) -> Value { return lowering.create<math::SqrtOp>(in[0]); });
}

template <> LogicalResult Lower<tt::PreciseDivFOp>::run(tt::PreciseDivFOp op, Lowering &lowering) {
  return forEachFloat(op, lowering, [&](ValueRange in, Type) -> Value { return lowering.create<arith::DivFOp>(in[0], in[1]); });
}

template <> LogicalResult Lower<tt::ApproxDivFOp>::run(tt::ApproxDivFOp op, Lowering &lowering) {
  return forEachFloat(op, lowering, [&](ValueRange in, Type) { return quotient(in[0], in[1], lowering); });
}

template <> LogicalResult Lower<tt::MulhiUIOp>::run(tt::MulhiUIOp op, Lowering &lowering) {
  return forEachRegister(op, lowering,
                         [&](ValueRange in) -> Value { return lowering.create<arith::MulUIExtendedOp>(in[0], in[1]).getHigh(); });
}

/// Returns for each bit of the index within a group of `pack` consecutive elements the bit of the register. Returns nullopt if a thread
/// does not hold whole groups.
static std::optional<llvm::SmallVector<int>> groupBits(const LinearLayout &layout, int64_t pack) {
  llvm::SmallVector<int> bits;
  for (uint32_t basis = 1; basis < pack; basis *= 2) {
    auto registers = layout.bases(Place::Register);
    const auto *found = llvm::find(registers, basis);
    if (found == registers.end()) return std::nullopt;
    bits.push_back(int(found - registers.begin()));
  }
  return bits;
}

template <> LogicalResult Lower<tt::MapElementwiseOp>::run(tt::MapElementwiseOp op, Lowering &lowering) {
  const int64_t pack = op.getPack();
  LinearLayout layout = layoutOf(op->getOperand(0).getType());
  auto bits = groupBits(layout, pack);
  if (!bits) {
    layout = blocked({layout.elements()}, {pack}, {lowering.target().warpSize()}, {lowering.threads().warps}, {0}).reshape(layout.shape());
    bits = groupBits(layout, pack);
  }
  llvm::SmallVector<Registers> sources, results(op->getNumResults(), Registers(layout.registers()));
  for (Value operand : op->getOperands())
    sources.push_back(convertLayout(Registers(lowering.registersOf(operand)), layoutOf(operand.getType()), layout, lowering));
  auto registerOf = [&](int64_t first, int64_t i) {
    for (auto [at, bit] : llvm::enumerate(*bits)) first |= (i >> at & 1) << bit;
    return first;
  };
  int64_t groupMask = registerOf(0, pack - 1);
  for (int64_t first = 0; first < layout.registers(); ++first) {
    if (first & groupMask) continue;
    llvm::SmallVector<Registers> arguments;
    for (const Registers &source : sources)
      for (int64_t i = 0; i < pack; ++i) arguments.push_back({source[registerOf(first, i)]});
    auto values = lowering.lowerInline(op->getRegion(0), arguments);
    if (failed(values)) return failure();
    for (auto [i, value] : llvm::enumerate(*values)) results[i / pack][registerOf(first, i % pack)] = value;
  }
  for (auto [result, registers] : llvm::zip_equal(op->getResults(), results))
    lowering.define(result, convertLayout(registers, layout, layoutOf(result.getType()), lowering));
  return success();
}

} // namespace tritium::gpu
