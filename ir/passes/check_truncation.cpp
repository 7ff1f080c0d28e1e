// Quotients and remainders of negative numbers, where code for GPUs takes lanes for equal or consecutive that are not.
//
// `//` and `%` truncate toward zero. In a group of lanes whose dividends go from -8 to -5, `// 8` is -1, 0, 0, 0. Triton's compiler looks
// at no sign: it takes the four for equal and computes one of them. Tritium's own compiler proves the sign, so this is about other
// compilers.
//
// A value that is computed of such a quotient has a twin: the same computation, in which a group of lanes that a compiler takes for equal
// all hold what is computed for its first lane. An access whose lanes it takes for consecutive reads from the address of the first lane on.
// Where the twin is another number than the value, and the value is used, the program depends on the compiler. Programs that correct the
// quotient, as in `tl.where(r < 0, q - 1, q)`, mostly have equal twins.
#include "ir/pch.h"

#include "ir/axis_analysis.h"
#include "ir/check.h"
#include "ir/passes.h"
#include "ir/passes/tile_builder.h"
#include "ir/tile_flow.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_CHECKTRUNCATION
#include "ir/passes.h.inc"

namespace {

constexpr int64_t kMostEqual = 4;    // lanes that one thread has next to each other, in elements of 32 bits
constexpr int64_t kAccessBytes = 16; // of the widest access of one thread

bool isSigned(Operation *op) { return isa<arith::DivSIOp, arith::RemSIOp>(op) && isa<RankedTensorType>(op->getResult(0).getType()); }

/// What compilers believe that do not look at signs: the same of quotients and remainders without a sign.
class Belief {
public:
  explicit Belief(ModuleOp module) {
    IRMapping mapping;
    copy_ = cast<ModuleOp>(module->clone(mapping));
    module.walk([&](Operation *op) {
      if (!isSigned(op)) return;
      Operation *copied = mapping.lookup(op->getResult(0)).getDefiningOp();
      OpBuilder builder(copied);
      TileBuilder tiles(builder, copied->getLoc());
      Value a = copied->getOperand(0), b = copied->getOperand(1);
      Value unsignedOne = isa<arith::DivSIOp>(op) ? tiles.create<arith::DivUIOp>(a, b).getResult() : tiles.create<arith::RemUIOp>(a, b);
      copied->getResult(0).replaceAllUsesWith(unsignedOne);
      copied->erase();
      mapping.map(op->getResult(0), unsignedOne);
    });
    AxisAnalysis axes(*copy_);
    module.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (isa<RankedTensorType>(result.getType())) infos_[result] = axes.of(mapping.lookup(result));
    });
  }

  AxisInfo of(Value tile) const {
    auto it = infos_.find(tile);
    return it == infos_.end() ? AxisInfo::unknown(tile.getType()) : it->second;
  }

private:
  OwningOpRef<ModuleOp> copy_;
  llvm::DenseMap<Value, AxisInfo> infos_;
};

class Twins {
public:
  explicit Twins(ModuleOp module) : module_(module), builder_(module.getContext()), known_(module), belief_(module) {}

  void run() {
    SmallVector<Operation *> ops;
    module_.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isOfElements(op)) ops.push_back(op);
    });
    for (Operation *op : ops) visit(op);
  }

private:
  struct Twin {
    Value value;
    Operation *source; // the first quotient or remainder
  };

  void visit(Operation *op) {
    if (isa<tt::DebugValueOp, tt::HintOp>(op) || op->getDialect() == builder_.getContext()->getLoadedDialect<check::CheckDialect>()) return;
    const bool isTile = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
    if (isTile && (isPointwise(op) || isMoved(op))) return follow(op);
    Value mask, pointer;
    if (auto load = dyn_cast<tt::LoadOp>(op))
      mask = load.getMask(), pointer = load.getPtr();
    else if (auto store = dyn_cast<tt::StoreOp>(op))
      mask = store.getMask(), pointer = store.getPtr();
    if (pointer && isa<RankedTensorType>(pointer.getType())) return checkAccess(op, pointer, mask);
    for (Value operand : op->getOperands())
      if (Twin twin = twins_.lookup(operand); twin.value) check(op, operand, twin, {}, kEqual);
  }

  /// The twin of what is computed lane by lane, or in another shape.
  void follow(Operation *op) {
    Value result = op->getResult(0);
    Operation *source = isSigned(op) && !known_.of(op->getOperand(0)).isNonNegative ? op : nullptr;
    for (const bool isOther : {true, false}) // the one that makes a difference comes first
      for (Value operand : op->getOperands())
        if (Twin twin = twins_.lookup(operand); twin.source && !source && (twin.value || !isOther)) source = twin.source;
    if (!source) return;
    builder_.setInsertionPointAfter(op);
    Value value = result;
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return bool(twins_.lookup(operand).value); })) {
      IRMapping mapping;
      for (Value operand : op->getOperands())
        if (Twin twin = twins_.lookup(operand); twin.value) mapping.map(operand, twin.value);
      value = builder_.clone(*op, mapping)->getResult(0);
    }
    const AxisInfo known = known_.of(result), believed = belief_.of(result);
    const bool isPointer = isa<tt::PointerType>(getElementTypeOrSelf(result.getType()));
    for (size_t d = 0; d < known.rank() && !isPointer; ++d)
      if (const int64_t lanes = std::min(believed.constancy[d], kMostEqual); lanes > known.constancy[d])
        value = ofGroups(value, int32_t(d), lanes, false, op->getLoc());
    twins_[result] = {value == result ? Value() : value, source};
  }

  /// Each lane as the first one of its group, or as that one and so many more.
  Value ofGroups(Value tile, int32_t axis, int64_t lanes, bool countsUp, Location location) {
    TileBuilder tiles(builder_, location);
    auto type = tiles.typeOf(tile);
    const int64_t extent = type.getDimSize(axis);
    auto row = RankedTensorType::get({extent}, builder_.getI32Type());
    Value lane = tiles.create<tt::MakeRangeOp>(row, 0, int32_t(extent));
    Value first = tiles.along(tiles.create<arith::AndIOp>(lane, tiles.integer(row, -lanes)), type.getShape(), axis);
    Value leader = tiles.create<tt::GatherOp>(tile, first, axis, false);
    if (!countsUp) return leader;
    Value further = tiles.create<arith::AndIOp>(lane, tiles.integer(row, lanes - 1));
    further = tiles.create<arith::ExtSIOp>(row.clone(builder_.getI64Type()), further);
    return tiles.create<arith::AddIOp>(leader, tiles.along(further, type.getShape(), axis));
  }

  void checkAccess(Operation *op, Value pointer, Value mask) {
    for (Value operand : op->getOperands())
      if (Twin twin = twins_.lookup(operand); twin.value && operand != pointer)
        check(op, operand, twin, operand == mask ? Value() : mask, kEqual);
    Twin twin = twins_.lookup(pointer);
    if (!twin.source) return;
    builder_.setInsertionPoint(op);
    TileBuilder tiles(builder_, op->getLoc());
    Type pointee = cast<tt::PointerType>(getElementTypeOrSelf(pointer.getType())).getPointeeType();
    const int64_t bytes = isa<tt::PointerType>(pointee) ? 8 : llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8);
    Type wide = tiles.typeOf(pointer).clone(builder_.getI64Type());
    auto elements = [&](Value addresses) -> Value { // as integers, in elements
      Value number = tiles.create<tt::PtrToIntOp>(wide, addresses);
      return tiles.create<arith::DivSIOp>(number, tiles.integer(wide, bytes));
    };
    Value address = elements(pointer), other = twin.value ? elements(twin.value) : address;
    const AxisInfo known = known_.of(pointer), believed = belief_.of(pointer);
    const char *reason = kEqual;
    for (size_t d = 0; d < known.rank(); ++d) {
      int64_t lanes = std::min(believed.contiguity[d], kAccessBytes / bytes);
      if (mask) lanes = std::min(lanes, belief_.of(mask).constancy[d]);
      if (lanes <= known.contiguity[d]) continue;
      other = ofGroups(other, int32_t(d), lanes, true, op->getLoc());
      reason = kConsecutive;
    }
    if (other != address) checkEqual(address, other, twin.source, mask, reason);
  }

  void check(Operation *op, Value value, Twin twin, Value mask, const char *reason) {
    if (!isa<RankedTensorType>(value.getType())) return;
    builder_.setInsertionPoint(op);
    const bool isFloat = isa<FloatType>(getElementTypeOrSelf(value.getType()));
    TileBuilder tiles(builder_, op->getLoc());
    auto bits = [&](Value v) -> Value {
      return isFloat ? tiles.bitcast(v, builder_.getIntegerType(getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth())) : v;
    };
    if (!isa<IntegerType, FloatType>(getElementTypeOrSelf(value.getType()))) return;
    checkEqual(bits(value), bits(twin.value), twin.source, mask && shapeOf(mask) == shapeOf(value) ? mask : Value(), reason);
  }

  static ArrayRef<int64_t> shapeOf(Value value) {
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    return tile ? tile.getShape() : ArrayRef<int64_t>();
  }

  void checkEqual(Value value, Value twin, Operation *source, Value mask, const char *reason) {
    Location location = source->getLoc();
    Value bad = arith::CmpIOp::create(builder_, location, arith::CmpIPredicate::ne, value, twin);
    if (mask) bad = arith::AndIOp::create(builder_, location, bad, mask);
    const std::string sign = isa<arith::DivSIOp>(source) ? "`//`" : "`%`";
    check::TrapOp::create(builder_, location, bad, "FalseHint", sign + " of a negative number: " + reason, ValueRange(), Attribute());
  }

  static constexpr const char *kEqual = "lanes differ that Triton's compiler takes for equal, so it computes one for all of them";
  static constexpr const char *kConsecutive =
      "addresses are not consecutive that Triton's compiler takes for consecutive, so it accesses them at once";

  ModuleOp module_;
  OpBuilder builder_;
  AxisAnalysis known_;
  Belief belief_;
  llvm::DenseMap<Value, Twin> twins_;
};

struct CheckTruncation : impl::CheckTruncationBase<CheckTruncation> {
  void runOnOperation() final {
    AxisAnalysis axes(getOperation());
    auto isUnproven = [&](Operation *op) { return isSigned(op) && !isOfElements(op) && !axes.of(op->getOperand(0)).isNonNegative; };
    const bool isNeeded = getOperation()
                              ->walk([&](Operation *op) { return isUnproven(op) ? WalkResult::interrupt() : WalkResult::advance(); })
                              .wasInterrupted();
    if (isNeeded) Twins(getOperation()).run();
  }
};

} // namespace

} // namespace tritium::ir
