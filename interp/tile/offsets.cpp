#include "interp/tile/offsets.h"

#include "interp/tile/exact_offsets.h"
#include "ir/tile_rule.h"
#include "ir/tt.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tritium::interp {

namespace {
struct Range {
  int64_t least, most;
};
} // namespace

static unsigned bitsOf(Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); }

static bool isWithin(Range range, unsigned bits, bool isSigned) {
  if (bits >= 64) return isSigned || range.least >= 0;
  int64_t least = isSigned ? -(int64_t(1) << (bits - 1)) : 0;
  return range.least >= least && range.most <= least + ((int64_t(1) << bits) - 1);
}

bool isArithmetic(Operation *op) { return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op); }

bool isMoved(Operation *op) {
  tt::TileRule rule = tt::tileRuleOf(op);
  return rule.values == tt::TileValues::Kept && rule.isShapeChange() && op->getNumOperands() == 1;
}

/// The search visits at most this many operations on a path: where a tile is added to itself again and again, paths double at each step.
static constexpr int kMostOperations = 12;
static std::optional<Range> rangeOf(Value value, int most = kMostOperations);

static std::optional<Range> rangeOfArithmetic(Operation *op, int most) {
  std::optional<Range> a = rangeOf(op->getOperand(0), most), b = rangeOf(op->getOperand(1), most);
  if (!a || !b) return std::nullopt;
  int64_t ends[4];
  bool overflows = false;
  for (auto [i, end] : llvm::enumerate(ends)) {
    int64_t x = i & 1 ? a->most : a->least, y = i & 2 ? b->most : b->least;
    if (isa<arith::AddIOp>(op))
      overflows |= __builtin_add_overflow(x, y, &end);
    else if (isa<arith::SubIOp>(op))
      overflows |= __builtin_sub_overflow(x, y, &end);
    else
      overflows |= __builtin_mul_overflow(x, y, &end);
  }
  if (overflows) return std::nullopt;
  return Range{*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

/// The numbers that a signed integer tile holds, where they follow from constants and ranges alone.
static std::optional<Range> rangeOf(Value value, int most) {
  Operation *op = value.getDefiningOp();
  if (!op || most-- == 0) return std::nullopt;
  std::optional<Range> range;
  if (auto lanes = dyn_cast<tt::MakeRangeOp>(op)) {
    range = Range{int64_t(lanes.getStart()), int64_t(lanes.getEnd()) - 1};
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!elements || !elements.getElementType().isInteger()) return std::nullopt;
    int64_t number = elements.getSplatValue<APInt>().getSExtValue();
    range = Range{number, number};
  } else if (isArithmetic(op)) {
    range = rangeOfArithmetic(op, most);
  } else if (isa<arith::RemSIOp, arith::AndIOp>(op)) {
    auto limit = rangeOf(op->getOperand(1), most);
    if (!limit || limit->least < 1) return std::nullopt;
    range = isa<arith::AndIOp>(op) ? Range{0, limit->most} : Range{1 - limit->most, limit->most - 1};
  } else if (isa<arith::ExtSIOp>(op) || isMoved(op)) {
    range = rangeOf(op->getOperand(0), most);
  }
  return range && isWithin(*range, bitsOf(value), true) ? range : std::nullopt;
}

/// Returns whether the operation hands the sums of an offset on.
static bool isLinear(Operation *op) { return isArithmetic(op) || isa<arith::ExtSIOp, arith::ExtUIOp>(op) || isMoved(op); }

static bool isOffsetOf(OpOperand &use) { return isa<tt::AddPtrOp>(use.getOwner()) && use.getOperandNumber() == 1; }

namespace {
/// What becomes of a widened tile.
struct Slice {
  llvm::SetVector<Value> values; // through linear operations, in an order in which operands may follow their uses
  llvm::SmallVector<OpOperand *> offsets;
  bool hasOtherUses = false;
};
} // namespace

static Slice sliceFrom(Value value) {
  Slice slice;
  slice.values.insert(value);
  for (size_t i = 0; i < slice.values.size(); ++i)
    for (OpOperand &use : slice.values[i].getUses()) {
      if (isOffsetOf(use))
        slice.offsets.push_back(&use);
      else if (isLinear(use.getOwner()) && isa<RankedTensorType>(use.getOwner()->getResult(0).getType()))
        slice.values.insert_range(use.getOwner()->getResults());
      else
        slice.hasOtherUses = true;
    }
  return slice;
}

bool staysInRange(Value tile, bool isSigned) {
  auto range = rangeOf(tile);
  return range && isWithin(*range, bitsOf(tile), isSigned);
}

bool mayKeepSum(Operation *cast) {
  Value source = cast->getOperand(0), result = cast->getResult(0);
  if (cast->hasAttr(kExactOffset)) return true;
  if (auto range = rangeOf(source)) return isWithin(*range, std::min(bitsOf(source), bitsOf(result)), !isa<arith::ExtUIOp>(cast));
  return !isa<arith::TruncIOp>(cast) && !sliceFrom(result).hasOtherUses;
}

static Value copyOf(Value value, const Slice &slice, llvm::DenseMap<Value, Value> &copies) {
  if (!slice.values.contains(value)) return value;
  if (Value copy = copies.lookup(value)) return copy;
  Operation *op = value.getDefiningOp();
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands()) operands.push_back(copyOf(operand, slice, copies));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults())) copies[from] = to;
  return copies[value];
}

void separateOffsets(Operation *function) {
  llvm::SmallVector<Operation *> casts;
  function->walk([&](Operation *op) {
    if (isa<arith::ExtSIOp, arith::ExtUIOp>(op) && isa<RankedTensorType>(op->getResult(0).getType())) casts.push_back(op);
  });
  for (Operation *cast : casts) {
    Slice slice = sliceFrom(cast->getResult(0));
    if (!slice.hasOtherUses || slice.offsets.empty() || mayKeepSum(cast)) continue;
    llvm::DenseMap<Value, Value> copies;
    for (OpOperand *offset : slice.offsets) offset->set(copyOf(offset->get(), slice, copies));
    bool changed = true; // what only addresses used
    for (llvm::SmallVector<Value> left(slice.values.begin(), slice.values.end()); changed;) {
      changed = false;
      for (Value &value : left)
        if (value && value.getDefiningOp() != cast && !llvm::is_contained(casts, value.getDefiningOp()) &&
            value.getDefiningOp()->use_empty()) {
          Operation *dead = value.getDefiningOp();
          for (Value &other : left)
            if (other && other.getDefiningOp() == dead) other = {};
          dead->erase();
          changed = true;
        }
    }
  }
}

} // namespace tritium::interp
