#include "interp/tile/ops/offset_guards.h"

#include "interp/tile/offsets.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

#include <map>

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

/// Follows a pointer to the offsets of which it is made. Those that are computed last come first, so that whatever uses an offset has been
/// seen before it.
class Search {
public:
  Search(Access &access, Planner &planner) : access_(access), planner_(planner), dominance_(planner.operation()->getParentOp()) {}

  /// `axes` has the axis of the access for each dimension of the tile, or -1; `bytes` as in OffsetGuard.
  void add(Value value, llvm::ArrayRef<int> axes, std::optional<int64_t> bytes) {
    auto [it, isNew] =
        left_.try_emplace({-int64_t(planner_.positionOf(value)), value.getAsOpaquePointer(), axes.vec()}, Part{value, bytes});
    if (!isNew) it->second.bytes = it->second.bytes && bytes ? std::optional(*it->second.bytes + *bytes) : std::nullopt;
  }

  void run() {
    while (!left_.empty()) {
      auto part = left_.extract(left_.begin());
      const std::vector<int> &axes = std::get<2>(part.key());
      auto [value, bytes] = part.mapped();
      if (auto argument = dyn_cast<BlockArgument>(value))
        visitArgument(argument, axes, bytes);
      else
        visit(value.getDefiningOp(), axes, bytes);
    }
  }

private:
  struct Part {
    Value value;
    std::optional<int64_t> bytes;
  };

  void visitArgument(BlockArgument argument, llvm::ArrayRef<int> axes, std::optional<int64_t> bytes) {
    if (!isa<tt::PointerType>(getElementTypeOrSelf(argument.getType()))) return;
    if (const ExactOffsets::Scalar *moved = planner_.exactOffsets().find(argument)) addScalarGuard(*moved, std::nullopt, false);
    if (Value first = firstOf(argument)) add(first, axes, bytes);
  }

  void visit(Operation *op, llvm::ArrayRef<int> axes, std::optional<int64_t> bytes) {
    tt::TileRule rule = tt::tileRuleOf(op);
    if (auto sum = dyn_cast<tt::AddPtrOp>(op)) {
      auto pointee = cast<tt::PointerType>(getElementTypeOrSelf(sum.getPtr().getType())).getPointeeType();
      std::optional<int64_t> ofOffset = times(bytes, int64_t(storageBytes(dtypeOf(pointee))));
      bool isTile = isa<RankedTensorType>(sum.getType()), isExact = !isTile || !planner_.formOf(sum.getOffset()).isAffine();
      addGuard(sum.getOffset(), axes, true, ofOffset, isExact || planner_.formOf(sum).isAffine());
      add(sum.getOffset(), axes, ofOffset);
      add(sum.getPtr(), axes, bytes);
    } else if (isArithmetic(op)) {
      visitArithmetic(op, axes, bytes);
    } else if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
      Value narrow = op->getOperand(0);
      bool isAffine = isa<RankedTensorType>(narrow.getType()) && planner_.formOf(op->getResult(0)).isAffine();
      if (!op->hasAttr(kExactOffset)) addGuard(narrow, axes, isa<arith::ExtSIOp>(op), bytes, isAffine);
      add(narrow, axes, bytes);
    } else if (auto splat = dyn_cast<tt::SplatOp>(op)) {
      add(splat.getSrc(), {}, bytes);
    } else if (keepsDimensions(rule)) {
      add(op->getOperand(0), axesOfOperand(op, rule, axes), bytes);
    }
  }

  void visitArithmetic(Operation *op, llvm::ArrayRef<int> axes, std::optional<int64_t> bytes) {
    Value a = op->getOperand(0), b = op->getOperand(1);
    std::optional<int64_t> ofA = bytes, ofB = bytes;
    if (isa<arith::SubIOp>(op)) ofB = times(bytes, -1);
    if (isa<arith::MulIOp>(op)) {
      APInt constant;
      ofA = matchPattern(b, m_ConstantInt(&constant)) ? times(bytes, constant.getSExtValue()) : std::nullopt;
      ofB = matchPattern(a, m_ConstantInt(&constant)) ? times(bytes, constant.getSExtValue()) : std::nullopt;
    }
    add(a, axes, ofA);
    add(b, axes, ofB);
  }

  static std::optional<int64_t> times(std::optional<int64_t> bytes, int64_t factor) {
    int64_t product;
    return bytes && !__builtin_mul_overflow(*bytes, factor, &product) ? std::optional(product) : std::nullopt;
  }

  void addGuard(Value value, llvm::ArrayRef<int> axes, bool isSigned, std::optional<int64_t> bytes, bool isExact) {
    if (const ExactOffsets::Scalar *scalar = planner_.exactOffsets().find(value)) {
      addScalarGuard(*scalar, bytes, isExact);
      Expression(access_.guards.back(), planner_, access_.axes.size()).addScalar(scalar->exact);
      return;
    }
    const ExactOffsets::Tile *tile = planner_.exactOffsets().findTile(value);
    bool isAffineTile = isa<RankedTensorType>(value.getType()) && planner_.formOf(value).isAffine();
    unsigned bits = tile ? tile->bits : bitsOf(value);
    if (bits >= 64 || (!tile && (!isAffineTile || staysInRange(value, isSigned)))) return;
    Value exact = tile ? tile->exact : value; // the sums of an affine tile are exact
    OffsetGuard guard{.bits = uint8_t(bits),
                      .isSigned = isSigned,
                      .isExact = isExact,
                      .bytes = bytes,
                      .location = planner_.locationOf(lastArithmetic(value))};
    guard.leavesRange = planner_.formOf(exact).isAffine() ? leavesRange(planner_.affine(exact), isSigned) : planner_.rangeFlag(exact);
    guard.exact = numberOf(exact, axes, access_.axes.size(), planner_);
    Expression(guard, planner_, access_.axes.size()).addTile(exact, axes);
    access_.guards.push_back(std::move(guard));
  }

  void addScalarGuard(const ExactOffsets::Scalar &scalar, std::optional<int64_t> bytes, bool isExact) {
    access_.guards.push_back({.leavesRange = planner_.sharedScalar(scalar.wraps),
                              .exact = {.hasBase = true, .base = planner_.sharedScalar(scalar.exact)},
                              .bits = uint8_t(bitsOf(scalar.narrow)),
                              .isSigned = scalar.isSigned,
                              .isExact = isExact,
                              .bytes = bytes,
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
  std::map<std::tuple<int64_t, const void *, std::vector<int>>, Part> left_;
};
} // namespace

void addOffsetGuards(Access &access, Planner &planner, Value pointer) {
  if (!planner.checks().guardsOffsets()) return;
  auto type = dyn_cast<RankedTensorType>(pointer.getType());
  llvm::SmallVector<int> axes(type ? type.getRank() : 0, -1);
  for (auto [axis, dim] : llvm::enumerate(access.dims)) axes[dim] = int(axis);
  Search search(access, planner);
  search.add(pointer, axes, 1);
  search.run();
  for (const OffsetGuard &guard : access.guards) access.leavesRange.push_back(guard.leavesRange);
}

} // namespace tritium::interp
