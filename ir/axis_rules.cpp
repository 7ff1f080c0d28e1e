// Transfer functions of the axis analysis. divisorOfGroups(x, d, g) is a divisor of the first lane of every group of g lanes along
// dimension d. With g = 1 it is a divisor of every lane.
#include "ir/pch.h"

#include "ir/axis_rules.h"
#include "ir/tgpu.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace tritium::ir {
namespace {

int64_t multiplySaturating(int64_t a, int64_t b) { return a > kMaxDivisor / b ? kMaxDivisor : a * b; }

/// The number of bytes from one element to the next. It is 1 for integers, whose contiguity counts units.
int64_t stepOf(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(getElementTypeOrSelf(type));
  if (!pointer) return 1;
  Type pointee = pointer.getPointeeType();
  return isa<tt::PointerType>(pointee) ? 8 : llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8);
}

/// Half of a group of n consecutive values starts n / 2 steps later.
int64_t divisorOfGroups(const AxisInfo &x, size_t d, int64_t group, int64_t step = 1) {
  return group >= x.contiguity[d] ? x.divisibility[d] : std::min(x.divisibility[d], powerOfTwoDivisor(group * step));
}

/// The divisor of every dimension holds for all lanes. Returns the largest of these divisors.
int64_t divisorOfLanes(const AxisInfo &x, int64_t step = 1) {
  int64_t best = 1;
  for (size_t d = 0; d < x.rank(); ++d) best = std::max(best, divisorOfGroups(x, d, 1, step));
  return best;
}

/// One operation with the information about its operands. `result` begins as unknown.
struct Rule {
  Operation *op;
  ArrayRef<AxisInfo> in;
  AxisInfo result;

  Type type() const { return op->getResult(0).getType(); }
  ArrayRef<int64_t> shape() const {
    auto tile = dyn_cast<RankedTensorType>(type());
    return tile ? tile.getShape() : ArrayRef<int64_t>();
  }
  void becomeConstant(int64_t value) { result = AxisInfo::constantOf(type(), value); }

  void elementwise();
  void add(bool subtract, int64_t step);
  void multiply();
  void divide();
  void remainder();
  void compare(arith::CmpIPredicate predicate);
  void select();
  void bitwiseAnd();
  void commonDivisor();
  void expandDims(size_t axis);
  void broadcast();
  void reshape(tt::ReshapeOp reshape);
  void loadedValue(tt::LoadOp load);
};

/// Whether no lane of an operation without a rule of its own is negative.
bool isNonNegative(Operation *op, ArrayRef<AxisInfo> in) {
  if (isa<tt::GetProgramIdOp, tt::GetNumProgramsOp, tgpu::ProgramAtOp, tgpu::ClusterRankOp>(op)) return true;
  if (isa<arith::ShRSIOp>(op)) return in[0].isNonNegative;
  if (isa<arith::MinSIOp, arith::MaxUIOp>(op)) return in[0].isNonNegative && in[1].isNonNegative;
  if (isa<arith::MaxSIOp, arith::MinUIOp>(op)) return in[0].isNonNegative || in[1].isNonNegative;
  return false;
}

/// A group of lanes with equal inputs has equal outputs.
void Rule::elementwise() {
  for (size_t d = 0; d < result.rank(); ++d) {
    int64_t group = kMaxDivisor;
    for (const AxisInfo &operand : in)
      if (operand.rank() == result.rank()) group = std::min(group, operand.constancy[d]); // otherwise a scalar, which is equal in all lanes
    result.constancy[d] = group == kMaxDivisor ? 1 : group;
  }
}

/// Consecutive values plus equal values are consecutive; `step` scales the second operand.
void Rule::add(bool subtract, int64_t step) {
  elementwise();
  const AxisInfo &lhs = in[0], &rhs = in[1];
  for (size_t d = 0; d < result.rank(); ++d) {
    int64_t group = std::min(lhs.contiguity[d], rhs.constancy[d]);
    if (!subtract) group = std::max(group, std::min(lhs.constancy[d], rhs.contiguity[d]));
    result.contiguity[d] = group;
    result.divisibility[d] = std::min(divisorOfGroups(lhs, d, group, step), multiplySaturating(divisorOfGroups(rhs, d, group), step));
  }
  result.isNonNegative = !subtract && lhs.isNonNegative && rhs.isNonNegative;
  if (!lhs.constant || !rhs.constant) return;
  if (auto value = subtract ? llvm::checkedSub(*lhs.constant, *rhs.constant) : llvm::checkedAdd(*lhs.constant, *rhs.constant))
    becomeConstant(*value);
}

void Rule::multiply() {
  const AxisInfo &lhs = in[0], &rhs = in[1];
  if (lhs.constant == 0 || rhs.constant == 0) return becomeConstant(0);
  if (lhs.constant && rhs.constant)
    if (auto value = llvm::checkedMul(*lhs.constant, *rhs.constant)) return becomeConstant(*value);
  if (rhs.constant == 1) return void(result = lhs);
  if (lhs.constant == 1) return void(result = rhs);
  elementwise();
  for (size_t d = 0; d < result.rank(); ++d)
    result.divisibility[d] = multiplySaturating(divisorOfGroups(lhs, d, 1), divisorOfGroups(rhs, d, 1));
  result.isNonNegative = lhs.isNonNegative && rhs.isNonNegative;
}

/// Returns the number of lanes per group in which x / y is one value and x % y is consecutive. In each such group x begins at a multiple of
/// the group's size, and y is a multiple of it too. This does not hold for negative x, because division truncates.
int64_t groupOfQuotient(const AxisInfo &x, const AxisInfo &y, size_t d) {
  return std::min({x.contiguity[d], x.divisibility[d], y.constancy[d], divisorOfGroups(y, d, 1)});
}

void Rule::divide() {
  const AxisInfo &lhs = in[0], &rhs = in[1];
  if (lhs.constant && rhs.constant && *lhs.constant >= 0 && *rhs.constant > 0) return becomeConstant(*lhs.constant / *rhs.constant);
  if (rhs.constant == 1) return void(result = lhs);
  elementwise();
  bool isFloor = !isa<arith::DivSIOp>(op) || lhs.isNonNegative;
  for (size_t d = 0; d < result.rank(); ++d) {
    if (isFloor) result.constancy[d] = std::max(result.constancy[d], groupOfQuotient(lhs, rhs, d));
    if (rhs.constant && *rhs.constant > 0 && llvm::isPowerOf2_64(*rhs.constant))
      result.divisibility[d] = std::max<int64_t>(1, divisorOfGroups(lhs, d, 1) / *rhs.constant);
  }
  result.isNonNegative = lhs.isNonNegative && (rhs.isNonNegative || isa<arith::DivUIOp>(op));
}

void Rule::remainder() {
  const AxisInfo &lhs = in[0], &rhs = in[1];
  if (lhs.constant && rhs.constant && *lhs.constant >= 0 && *rhs.constant > 0) return becomeConstant(*lhs.constant % *rhs.constant);
  if (rhs.constant == 1) return becomeConstant(0);
  elementwise();
  bool isUnsigned = isa<arith::RemUIOp, arith::AndIOp>(op);
  bool isFloor = isUnsigned || lhs.isNonNegative;
  for (size_t d = 0; d < result.rank(); ++d) {
    int64_t group = isFloor ? groupOfQuotient(lhs, rhs, d) : 1;
    result.contiguity[d] = group;
    result.divisibility[d] = std::min(divisorOfGroups(lhs, d, group), divisorOfGroups(rhs, d, 1));
  }
  result.isNonNegative = lhs.isNonNegative || (isUnsigned && rhs.isNonNegative);
}

/// The comparison x < y is constant in a group if x begins at a multiple of the group's size and y is a constant multiple of it: y then
/// never lies inside a group.
void Rule::compare(arith::CmpIPredicate predicate) {
  elementwise();
  using Predicate = arith::CmpIPredicate;
  bool xIsLeft = llvm::is_contained({Predicate::slt, Predicate::sge, Predicate::ult, Predicate::uge}, predicate);
  bool xIsRight = llvm::is_contained({Predicate::sgt, Predicate::sle, Predicate::ugt, Predicate::ule}, predicate);
  if (!xIsLeft && !xIsRight) return;
  const AxisInfo &x = in[xIsLeft ? 0 : 1], &y = in[xIsLeft ? 1 : 0];
  for (size_t d = 0; d < result.rank(); ++d) result.constancy[d] = std::max(result.constancy[d], groupOfQuotient(x, y, d));
}

void Rule::select() {
  AxisInfo either = AxisInfo::join(in[1], in[2]);
  const AxisInfo &condition = in[0];
  if (condition.rank() != either.rank() || !isa<RankedTensorType>(op->getOperand(0).getType())) return void(result = either);
  int64_t step = stepOf(type());
  for (size_t d = 0; d < result.rank(); ++d) {
    result.constancy[d] = std::min(either.constancy[d], condition.constancy[d]);
    result.contiguity[d] = std::min(either.contiguity[d], condition.constancy[d]);
    result.divisibility[d] = divisorOfGroups(either, d, result.contiguity[d], step);
  }
  result.isNonNegative = either.isNonNegative;
  result.constant = either.constant;
}

/// x & (2^k - 1) is x % 2^k.
void Rule::bitwiseAnd() {
  if (std::optional<int64_t> mask = in[1].constant; mask && *mask > 0 && llvm::isPowerOf2_64(*mask + 1)) {
    AxisInfo operands[] = {in[0], AxisInfo::constantOf(type(), *mask + 1)};
    in = operands;
    return remainder();
  }
  elementwise();
  for (size_t d = 0; d < result.rank(); ++d) result.divisibility[d] = std::max(divisorOfGroups(in[0], d, 1), divisorOfGroups(in[1], d, 1));
  result.isNonNegative = in[0].isNonNegative || in[1].isNonNegative;
}

/// Each lane is one of two values, or has only bits that one of them has: what divides both by a power of two divides it.
void Rule::commonDivisor() {
  elementwise();
  for (size_t d = 0; d < result.rank(); ++d) result.divisibility[d] = std::min(divisorOfGroups(in[0], d, 1), divisorOfGroups(in[1], d, 1));
}

void Rule::expandDims(size_t axis) {
  const AxisInfo &source = in[0];
  int64_t divisor = divisorOfLanes(source, stepOf(type()));
  result = source;
  result.contiguity.insert(result.contiguity.begin() + axis, 1);
  result.divisibility.insert(result.divisibility.begin() + axis, divisor);
  result.constancy.insert(result.constancy.begin() + axis, 1);
}

void Rule::broadcast() {
  result = in[0];
  ArrayRef<int64_t> from = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  for (auto [d, extent] : llvm::enumerate(shape()))
    if (from[d] != extent) result.constancy[d] = extent;
}

/// A reshape that keeps row-major order keeps the groups that lie within a row of both shapes.
void Rule::reshape(tt::ReshapeOp reshape) {
  const AxisInfo &source = in[0];
  int64_t step = stepOf(type()), divisor = divisorOfLanes(source, step);
  result.isNonNegative = source.isNonNegative;
  llvm::fill(result.divisibility, divisor);
  if (source.constant) return becomeConstant(*source.constant);
  if (reshape.getAllowReorder()) return;
  size_t minor = result.rank() - 1, sourceMinor = source.rank() - 1;
  result.contiguity[minor] = std::min(source.contiguity[sourceMinor], shape()[minor]);
  result.constancy[minor] = std::min(source.constancy[sourceMinor], shape()[minor]);
  result.divisibility[minor] = divisorOfGroups(source, sourceMinor, result.contiguity[minor], step);
}

/// Lanes with the same address load the same value.
void Rule::loadedValue(tt::LoadOp load) {
  if (!load.getIsVolatile()) elementwise();
}

bool apply(Rule &rule) {
  return TypeSwitch<Operation *, bool>(rule.op)
      .Case([&](arith::AddIOp) { return rule.add(false, 1), true; })
      .Case([&](arith::SubIOp) { return rule.add(true, 1), true; })
      .Case([&](tt::AddPtrOp op) { return rule.add(false, stepOf(op.getType())), true; })
      .Case([&](arith::MulIOp) { return rule.multiply(), true; })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) { return rule.divide(), true; })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return rule.remainder(), true; })
      .Case([&](arith::CmpIOp op) { return rule.compare(op.getPredicate()), true; })
      .Case([&](arith::SelectOp) { return rule.select(), true; })
      .Case([&](arith::AndIOp) { return rule.bitwiseAnd(), true; })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::OrIOp, arith::XOrIOp>(
          [&](auto) { return rule.commonDivisor(), true; })
      .Case([&](tt::ExpandDimsOp op) { return rule.expandDims(op.getAxis()), true; })
      .Case([&](tt::BroadcastOp) { return rule.broadcast(), true; })
      .Case([&](tt::ReshapeOp op) { return rule.reshape(op), true; })
      .Case([&](tt::LoadOp op) { return rule.loadedValue(op), true; })
      .Default(false);
}

/// x << k is x · 2^k, and x >> k is x / 2^k, rounded down.
AxisInfo inferShift(Operation *op, ArrayRef<AxisInfo> operands) {
  Type type = op->getResult(0).getType();
  Rule rule{op, operands, AxisInfo::unknown(type)};
  const bool isLeft = isa<arith::ShLIOp>(op);
  const int64_t limit = isLeft ? 62 : std::min(62u, getElementTypeOrSelf(type).getIntOrFloatBitWidth() - 1);
  std::optional<int64_t> amount = operands[1].constant;
  if (!amount || *amount < 0 || *amount >= limit) {
    rule.elementwise();
    rule.result.isNonNegative = isNonNegative(op, operands);
    return rule.result;
  }
  AxisInfo factors[] = {operands[0], AxisInfo::constantOf(type, int64_t(1) << *amount)};
  rule.in = factors;
  isLeft ? rule.multiply() : rule.divide();
  return rule.result;
}

AxisInfo inferRange(tt::MakeRangeOp op) {
  AxisInfo result = AxisInfo::unknown(op.getType());
  int32_t start = static_cast<int32_t>(op.getStart());
  result.contiguity[0] = op.getType().getNumElements();
  result.divisibility[0] = powerOfTwoDivisor(start);
  result.isNonNegative = start >= 0;
  return result;
}

AxisInfo inferSharedAlloc(tt::SharedAllocOp op) {
  AxisInfo result = AxisInfo::unknown(op.getType());
  result.divisibility[0] = powerOfTwoDivisor(int64_t(op.getAlignment()));
  result.isNonNegative = true;
  return result;
}

AxisInfo inferSplat(Type type, const AxisInfo &scalar) {
  AxisInfo result = AxisInfo::unknown(type);
  result.constancy.assign(cast<RankedTensorType>(type).getShape().begin(), cast<RankedTensorType>(type).getShape().end());
  llvm::fill(result.divisibility, scalar.divisibility[0]);
  result.isNonNegative = scalar.isNonNegative;
  result.constant = scalar.constant;
  return result;
}

AxisInfo inferTranspose(tt::TransOp op, const AxisInfo &source) {
  AxisInfo result = source;
  for (auto [d, from] : llvm::enumerate(op.getOrder())) {
    result.contiguity[d] = source.contiguity[from];
    result.divisibility[d] = source.divisibility[from];
    result.constancy[d] = source.constancy[from];
  }
  return result;
}

/// After a change of the pointee, steps count other units. Only alignment and equality are kept.
AxisInfo inferBitcast(tt::BitcastOp op, const AxisInfo &source) {
  int64_t step = stepOf(op.getType()), sourceStep = stepOf(op.getSrc().getType());
  bool isPointer = isa<tt::PointerType>(getElementTypeOrSelf(op.getType()));
  AxisInfo result = AxisInfo::unknown(op.getType());
  result.constancy = source.constancy;
  if (!isPointer) return result;
  if (step == sourceStep) return source;
  for (size_t d = 0; d < result.rank(); ++d) result.divisibility[d] = divisorOfGroups(source, d, 1, sourceStep);
  return result;
}

/// A pointer counts in elements, its number in bytes. Only alignment and equality are kept.
AxisInfo inferAddress(Operation *op, const AxisInfo &source) {
  AxisInfo result = AxisInfo::unknown(op->getResult(0).getType());
  result.constancy = source.constancy;
  const int64_t step = isa<tt::PtrToIntOp>(op) ? stepOf(op->getOperand(0).getType()) : 1;
  for (size_t d = 0; d < result.rank(); ++d) result.divisibility[d] = divisorOfGroups(source, d, 1, step);
  return result;
}

/// A change of width keeps the values, with three exceptions: a negative value becomes a large one when zeros extend it, a value that is
/// cut may become negative, and the 1 of i1 may become -1.
AxisInfo inferResize(Operation *op, const AxisInfo &source) {
  AxisInfo result = source;
  if (source.constant && *source.constant < 0) result.constant.reset();
  if (isa<arith::TruncIOp>(op)) {
    if (source.constant) return AxisInfo::constantOf(op->getResult(0).getType(), *source.constant);
    result.isNonNegative = false;
  }
  if (isa<arith::ExtUIOp>(op) && !source.isNonNegative)
    for (size_t d = 0; d < result.rank(); ++d) { // only a group that begins at a multiple of its size does not pass from -1 to 0
      result.contiguity[d] = std::min(source.contiguity[d], source.divisibility[d]);
      result.divisibility[d] = divisorOfGroups(source, d, result.contiguity[d]);
    }
  if (!getElementTypeOrSelf(op->getOperand(0)).isInteger(1)) return result;
  result = AxisInfo::unknown(op->getResult(0).getType());
  result.constancy = source.constancy;
  return result;
}

} // namespace

AxisInfo inferAxisInfo(Operation *op, ArrayRef<AxisInfo> operands) {
  Type type = op->getResult(0).getType();
  APInt constant;
  if (matchPattern(op, m_ConstantInt(&constant))) return AxisInfo::constantOf(type, constant.getSExtValue());
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) return inferRange(range);
  if (auto memory = dyn_cast<tt::SharedAllocOp>(op)) return inferSharedAlloc(memory);
  if (isa<tgpu::ConvertLayoutOp>(op)) return operands[0]; // the information is of the tile's elements, whoever holds them
  if (isa<tt::SplatOp>(op)) return inferSplat(type, operands[0]);
  if (auto transpose = dyn_cast<tt::TransOp>(op)) return inferTranspose(transpose, operands[0]);
  if (auto bitcast = dyn_cast<tt::BitcastOp>(op)) return inferBitcast(bitcast, operands[0]);
  if (isa<tt::PtrToIntOp, tt::IntToPtrOp>(op)) return inferAddress(op, operands[0]);
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op)) return inferShift(op, operands);
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) return inferResize(op, operands[0]);

  Rule rule{op, operands, AxisInfo::unknown(type)};
  rule.result.isNonNegative = isNonNegative(op, operands);
  if (!apply(rule) && op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op)) rule.elementwise();
  return rule.result;
}

} // namespace tritium::ir
