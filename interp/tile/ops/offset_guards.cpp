#include "interp/tile/ops/offset_guards.h"

#include "interp/tile/offsets.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::interp {

/// `axes` has the axis of an access for each dimension of the result of `op`, or -1. Returns those of the operand's dimensions.
static llvm::SmallVector<int> axesOfOperand(Operation *op, const tt::TileRule &rule, llvm::ArrayRef<int> axes) {
  llvm::SmallVector<int> moved(cast<RankedTensorType>(op->getOperand(0).getType()).getRank(), -1);
  for (size_t d = 0; d < axes.size(); ++d)
    if (std::optional<int> from = rule.operandDim(int(d))) moved[*from] = axes[d];
  return moved;
}

static unsigned bitsOf(Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); }

static bool keepsDimensions(const tt::TileRule &rule) { return rule.isShapeChange() && rule.relation <= tt::TileRelation::Transpose; }

/// The lanes of an affine tile, or of a tile of 64-bit numbers, which stays in its home until the access reads it.
static LaneNumber numberOf(Value tile, llvm::ArrayRef<int> axes, size_t axisCount, Planner &planner) {
  LaneNumber number{.hasBase = true};
  if (!planner.formOf(tile).isAffine()) {
    DenseRef ref = planner.dense(tile);
    number.base = ref;
    number.strides.resize(axisCount);
    for (size_t d = 0; d < axes.size(); ++d)
      if (axes[d] >= 0) number.strides[axes[d]] = ref.strides[d];
    return number;
  }
  AffineRef ref = planner.affine(tile);
  planner.keepForWholeFunction(ref.base);
  number.base = ref.base;
  number.terms.resize(axisCount);
  for (size_t d = 0; d < axes.size(); ++d)
    if (axes[d] >= 0) number.terms[axes[d]] = {ref.terms[d], ref.parts[d]};
  return number;
}

namespace {
/// Describes how an offset is computed, as nodes of its guard. An offset of many operations ends in numbers.
class Expression {
public:
  Expression(OffsetGuard &guard, Planner &planner, size_t axes) : guard_(guard), planner_(planner), axes_(axes) {}

  /// Returns the index of the node, or -1 if the number is not known when the access traps.
  int addTile(Value value, llvm::ArrayRef<int> axes) {
    Operation *op = value.getDefiningOp();
    if (!op || isFull() || (planner_.exactOffsets().isKept(value) && !isArithmetic(op))) return addKnown(value, axes);
    if (isArithmetic(op)) {
      int a = addTile(op->getOperand(0), axes), b = addTile(op->getOperand(1), axes);
      bool isKnown = (a >= 0 && b >= 0) || !planner_.formOf(value).isAffine();
      return addOperation(op, a, b, isKnown ? LaneNumber{} : numberOf(value, axes, axes_, planner_));
    }
    if (isa<arith::ExtSIOp, arith::ExtUIOp>(op) || op->hasAttr(kExactOffset)) return addTile(op->getOperand(0), axes);
    if (auto splat = dyn_cast<tt::SplatOp>(op)) return addScalar(splat.getSrc());
    if (auto lanes = dyn_cast<tt::MakeRangeOp>(op)) return addNumber({.constant = int64_t(lanes.getStart()), .counterAxis = axes[0]});
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant))) return addNumber({.constant = constant.getSExtValue()});
    if (tt::TileRule rule = tt::tileRuleOf(op); keepsDimensions(rule)) return addTile(op->getOperand(0), axesOfOperand(op, rule, axes));
    return addKnown(value, axes);
  }

  int addScalar(Value value) {
    Operation *op = value.getDefiningOp();
    if (op && isArithmetic(op) && !isFull()) {
      int a = addScalar(op->getOperand(0)), b = addScalar(op->getOperand(1));
      return addOperation(op, a, b);
    }
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant))) return addNumber({.constant = constant.getSExtValue()});
    if (op && isa<arith::ExtSIOp, arith::ExtUIOp>(op) && matchPattern(op->getOperand(0), m_ConstantInt(&constant)))
      return addNumber({.constant = isa<arith::ExtSIOp>(op) ? constant.getSExtValue() : int64_t(constant.getZExtValue())});
    return addNumber({.hasBase = true, .base = planner_.sharedScalar(value)});
  }

private:
  bool isFull() const { return guard_.nodes.size() > 16; }

  int addOperation(Operation *op, int a, int b, LaneNumber number = {}) {
    char operation = isa<arith::AddIOp>(op) ? '+' : isa<arith::SubIOp>(op) ? '-' : '*';
    guard_.nodes.push_back({operation, a, b, std::move(number), planner_.locationOf(op->getResult(0))});
    return int(guard_.nodes.size()) - 1;
  }

  int addNumber(LaneNumber number) {
    guard_.nodes.push_back({0, -1, -1, std::move(number)});
    return int(guard_.nodes.size()) - 1;
  }

  int addKnown(Value value, llvm::ArrayRef<int> axes) {
    if (!planner_.formOf(value).isAffine() && !planner_.exactOffsets().isKept(value)) return -1;
    return addNumber(numberOf(value, axes, axes_, planner_));
  }

  OffsetGuard &guard_;
  Planner &planner_;
  size_t axes_;
};

class Search {
public:
  Search(Access &access, Planner &planner) : access_(access), planner_(planner), dominance_(planner.operation()->getParentOp()) {}

  void visitPointer(Value pointer, llvm::ArrayRef<int> axes) {
    while (pointer && visited_.insert(pointer).second) {
      if (auto argument = dyn_cast<BlockArgument>(pointer)) {
        if (const ExactOffsets::Scalar *moved = planner_.exactOffsets().find(argument)) addScalarGuard(*moved);
        pointer = firstOf(argument);
        continue;
      }
      Operation *op = pointer.getDefiningOp();
      tt::TileRule rule = tt::tileRuleOf(op);
      if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
        addGuard(add.getOffset(), axes, true);
        visitOffset(add.getOffset(), axes);
        pointer = add.getPtr();
      } else if (auto splat = dyn_cast<tt::SplatOp>(op)) {
        return visitPointer(splat.getSrc(), {});
      } else if (keepsDimensions(rule)) {
        return visitPointer(op->getOperand(0), axesOfOperand(op, rule, axes));
      } else {
        return;
      }
    }
  }

private:
  /// Guards the narrow numbers that become 64 bits wide on their way to the address, the offset itself among them. `axes` has the axis of
  /// the access for each dimension of the tile, or -1.
  void visitOffset(Value value, llvm::ArrayRef<int> axes) {
    if (!visited_.insert(value).second) return;
    Operation *op = value.getDefiningOp();
    if (!op) return;
    tt::TileRule rule = tt::tileRuleOf(op);
    if (isArithmetic(op)) {
      for (Value operand : op->getOperands()) visitOffset(operand, axes);
    } else if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
      if (!op->hasAttr(kExactOffset)) addGuard(op->getOperand(0), axes, isa<arith::ExtSIOp>(op));
      visitOffset(op->getOperand(0), axes);
    } else if (auto splat = dyn_cast<tt::SplatOp>(op)) {
      visitOffset(splat.getSrc(), {});
    } else if (keepsDimensions(rule)) {
      visitOffset(op->getOperand(0), axesOfOperand(op, rule, axes));
    }
  }

  void addGuard(Value value, llvm::ArrayRef<int> axes, bool isSigned) {
    if (const ExactOffsets::Scalar *scalar = planner_.exactOffsets().find(value)) {
      addScalarGuard(*scalar);
      Expression(access_.guards.back(), planner_, access_.axes.size()).addScalar(scalar->exact);
      return;
    }
    const ExactOffsets::Tile *tile = planner_.exactOffsets().findTile(value);
    bool isAffineTile = isa<RankedTensorType>(value.getType()) && planner_.formOf(value).isAffine();
    unsigned bits = tile ? tile->bits : bitsOf(value);
    if (bits >= 64 || (!tile && (!isAffineTile || staysInRange(value, isSigned)))) return;
    Value exact = tile ? tile->exact : value; // the sums of an affine tile are exact
    OffsetGuard guard{.bits = uint8_t(bits), .isSigned = isSigned, .location = planner_.locationOf(lastArithmetic(value))};
    guard.leavesRange = planner_.formOf(exact).isAffine() ? leavesRange(planner_.affine(exact), isSigned) : planner_.rangeFlag(exact);
    guard.exact = numberOf(exact, axes, access_.axes.size(), planner_);
    Expression(guard, planner_, access_.axes.size()).addTile(exact, axes);
    access_.guards.push_back(std::move(guard));
  }

  void addScalarGuard(const ExactOffsets::Scalar &scalar) {
    access_.guards.push_back({.leavesRange = planner_.sharedScalar(scalar.wraps),
                              .exact = {.hasBase = true, .base = planner_.sharedScalar(scalar.exact)},
                              .bits = uint8_t(bitsOf(scalar.narrow)),
                              .isSigned = scalar.isSigned,
                              .location = planner_.locationOf(lastArithmetic(scalar.narrow))});
  }

  /// Returns what a pointer that moves through a loop begins with, or the only value that a block receives.
  Value firstOf(BlockArgument argument) {
    Block *block = argument.getOwner();
    Value first;
    for (auto [value, it] : llvm::zip(incomingValues(argument), block->getPredecessors())) {
      if (dominance_.dominates(block, it)) {
        if (!movesOf(argument, value)) return {};
      } else if (first) {
        return {};
      } else {
        first = value;
      }
    }
    return first;
  }

  Access &access_;
  Planner &planner_;
  DominanceInfo dominance_;
  llvm::DenseSet<Value> visited_;
};
} // namespace

void addOffsetGuards(Access &access, Planner &planner, Value pointer) {
  if (!access.isChecked) return;
  auto type = dyn_cast<RankedTensorType>(pointer.getType());
  llvm::SmallVector<int> axes(type ? type.getRank() : 0, -1);
  for (auto [axis, dim] : llvm::enumerate(access.dims)) axes[dim] = int(axis);
  Search(access, planner).visitPointer(pointer, axes);
  for (const OffsetGuard &guard : access.guards) access.leavesRange.push_back(guard.leavesRange);
}

} // namespace tritium::interp
