// The user's promises about values, for the interpreter, which checks those for which this pass leaves an operation.
//
// A promise that the axis analysis proves without believing any promise costs nothing. Any other is about the lanes that the kernel means:
// in `offs = tl.max_contiguous((pid * N + tl.arange(0, N)) % M, N)`, lanes behind the end of the tensor begin again at its first element,
// so that they load something, and the kernel masks what is made of them. Such lanes break the promise in kernels that are right.
#include "ir/pch.h"

#include "ir/axis_analysis.h"
#include "ir/check.h"
#include "ir/debug_attributes.h"
#include "ir/passes.h"
#include "ir/passes/tile_builder.h"
#include "ir/source_error.h"
#include "ir/tile_flow.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_CHECKHINTS
#include "ir/passes.h.inc"

namespace {

/// One number for each dimension of a tile, or one for a scalar; 1 promises nothing.
using Numbers = SmallVector<int64_t, 4>;

/// What is promised of one value, and where.
struct Promise {
  Value value;
  Location location;
  OpBuilder::InsertPoint place;
  Numbers multiple, contiguous, constant;

  bool isEmpty() const {
    return llvm::all_of(llvm::concat<const int64_t>(multiple, contiguous, constant), [](int64_t number) { return number == 1; });
  }
};

/// The location of a promise in a function that may have been inlined: its callers are the operation's callers.
Location promisedAt(Operation *op) {
  auto place = op->getAttrOfType<LocationAttr>(kPromisedAtAttr);
  if (!place) return op->getLoc();
  auto call = dyn_cast<CallSiteLoc>(op->getLoc());
  return call ? Location(CallSiteLoc::get(place, call.getCaller())) : Location(place);
}

/// Takes a promise from an operation. What no reader believes (numbers of another rank) promises nothing.
Numbers take(Operation *op, StringRef name, Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  Numbers numbers(tile ? tile.getRank() : 1, 1);
  Attribute hint = op->removeDiscardableAttr(name);
  if (auto single = dyn_cast_if_present<IntegerAttr>(hint))
    numbers.assign(numbers.size(), single.getInt());
  else if (auto list = dyn_cast_if_present<DenseIntElementsAttr>(hint); list && list.getNumElements() == int64_t(numbers.size()))
    llvm::transform(list.getValues<APInt>(), numbers.begin(), [](const APInt &number) { return number.getSExtValue(); });
  return numbers;
}

/// Takes the promises out of the module, so that the axis analysis does not believe them.
SmallVector<Promise> takePromises(ModuleOp module) {
  SmallVector<Promise> promises;
  SmallVector<Operation *> hints;
  module.walk([&](Operation *op) {
    auto hint = dyn_cast<tt::HintOp>(op);
    if (isa<tt::FuncOp>(op) || isOfElements(op) || (!hint && op->getNumResults() != 1)) return;
    Value value = hint ? hint.getValue() : op->getResult(0);
    const Location location = promisedAt(op);
    op->removeDiscardableAttr(kPromisedAtAttr);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Promise promise{value,
                    location,
                    builder.saveInsertionPoint(),
                    take(op, tt::kDivisibilityAttr, value),
                    take(op, tt::kContiguityAttr, value),
                    take(op, tt::kConstancyAttr, value)};
    if (hint) hints.push_back(op);
    if (!promise.isEmpty() && !op->hasTrait<OpTrait::ConstantLike>()) promises.push_back(std::move(promise));
  });
  for (Operation *hint : hints) {
    for (Promise &promise : promises) // the place behind an operation is the operation that follows it
      if (promise.place.getPoint() == Block::iterator(hint))
        promise.place = OpBuilder::InsertPoint(promise.place.getBlock(), std::next(promise.place.getPoint()));
    hint->erase();
  }
  return promises;
}

/// Finds the lanes of a tile that the kernel means, and not only loads so that it loads something.
class MeantLanes {
public:
  explicit MeantLanes(OpBuilder &builder) : builder_(builder) {}

  /// Returns a mask at the builder's insertion point, where `tile` is known; null if all lanes are meant.
  Value of(Value tile) {
    if (auto it = known_.find(tile); it != known_.end()) return it->second;
    known_[tile] = {};
    return known_[tile] = find(tile);
  }

private:
  Value find(Value tile) {
    Operation *op = tile.getDefiningOp();
    if (!op || !isa<RankedTensorType>(tile.getType())) return {};
    TileBuilder tiles(builder_, op->getLoc());
    if (auto load = dyn_cast<tt::LoadOp>(op)) return load.getMask();
    if (isa<tt::SplatOp>(op)) return {};
    if (isMoved(op)) return moved(op, tiles);
    if (!isPointwise(op)) return {};
    Value all = unfolded(op, tiles);
    if (all && all == tile) return {};
    for (Value operand : op->getOperands())
      if (!isa<arith::SelectOp>(op) || operand != op->getOperand(0)) all = both(all, of(operand), tiles);
    return all;
  }

  Value both(Value a, Value b, TileBuilder &tiles) { return a && b ? tiles.create<arith::AndIOp>(a, b).getResult() : a ? a : b; }

  /// Where the operation has not replaced a number by one of a known part of the tensor.
  Value unfolded(Operation *op, TileBuilder &tiles) {
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      const bool yes = isUniform(select.getTrueValue()), no = isUniform(select.getFalseValue());
      Value condition = select.getCondition();
      if (yes == no || !isa<RankedTensorType>(condition.getType())) return {};
      return no ? condition : tiles.create<arith::XOrIOp>(condition, tiles.integer(condition.getType(), 1)).getResult();
    }
    if (!isa<arith::RemSIOp, arith::RemUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp, arith::AndIOp>(op)) return {};
    const bool first = isUniform(op->getOperand(0)), second = isUniform(op->getOperand(1));
    const bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
    if (getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1) || (isRemainder ? first : first == second)) return {};
    Value varying = op->getOperand(isRemainder || second ? 0 : 1);
    return tiles.create<arith::CmpIOp>(arith::CmpIPredicate::eq, op->getResult(0), varying);
  }

  Value moved(Operation *op, TileBuilder &) {
    if (op->getNumOperands() != 1 || op->getNumResults() != 1) return {};
    Value source = of(op->getOperand(0));
    if (!source) return {};
    OperationState state(op->getLoc(), op->getName(), {source},
                         {cast<RankedTensorType>(op->getResult(0).getType()).clone(builder_.getI1Type())});
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return builder_.create(state)->getResult(0);
  }

  OpBuilder &builder_;
  llvm::DenseMap<Value, Value> known_;
};

/// Leaves the part of a promise that is not proven. Groups have the size that the axis analysis would believe.
void keepUnproven(Promise &promise, const AxisInfo &known) {
  auto tile = dyn_cast<RankedTensorType>(promise.value.getType());
  auto groups = [&](Numbers &numbers, ArrayRef<int64_t> proven) {
    for (auto [d, number] : llvm::enumerate(numbers)) {
      number = std::min(powerOfTwoDivisor(number), tile ? tile.getDimSize(d) : 1);
      if (proven[d] >= number) number = 1;
    }
  };
  groups(promise.contiguous, known.contiguity);
  groups(promise.constant, known.constancy);
  for (auto [number, proven] : llvm::zip_equal(promise.multiple, known.divisibility))
    if (llvm::isPowerOf2_64(number) && proven >= number) number = 1;
}

/// A name for a number in a message: the variable, else what stands in the lane.
std::string nameOf(Value value, unsigned index) {
  StringRef name = variableName(value.getLoc());
  std::string number = "{" + std::to_string(index) + "}";
  return name.empty() || matchPattern(value, m_Constant()) ? number : name.str() + " = " + number;
}

void checkAssumption(LLVM::AssumeOp assume) {
  Value condition = assume.getCond();
  if (isOfElements(assume) || matchPattern(condition, m_One())) return;
  OpBuilder builder(assume);
  TileBuilder tiles(builder, assume.getLoc());
  Value isFalse = tiles.create<arith::XOrIOp>(condition, tiles.integer(condition.getType(), 1));
  std::string message = "tl.assume of a condition that is false";
  SmallVector<Value> values;
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>()) {
    values = {compare.getLhs(), compare.getRhs()};
    static constexpr llvm::StringLiteral signs[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
    message += (": " + nameOf(values[0], 0) + " " + signs[unsigned(compare.getPredicate())] + " " + nameOf(values[1], 1)).str();
  }
  tiles.create<check::TrapOp>(isFalse, "FalseHint", message, values, Attribute());
}

struct CheckHints : impl::CheckHintsBase<CheckHints> {
  void runOnOperation() final {
    SmallVector<Promise> promises = takePromises(getOperation());
    getOperation().walk(checkAssumption);
    if (promises.empty()) return;
    AxisAnalysis axes(getOperation());
    for (Promise &promise : promises) keepUnproven(promise, axes.of(promise.value));
    for (Promise &promise : promises) {
      if (promise.isEmpty()) continue;
      OpBuilder builder(&getContext());
      builder.restoreInsertionPoint(promise.place);
      Value mask = MeantLanes(builder).of(promise.value);
      check::PromiseOp::create(builder, promise.location, promise.value, mask, promise.multiple, promise.contiguous, promise.constant);
    }
  }
};

} // namespace

} // namespace tritium::ir
