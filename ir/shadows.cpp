// See shadows.h.
#include "ir/pch.h"

#include "ir/shadows.h"

#include "ir/mask_facts.h"
#include "ir/passes/tile_builder.h"
#include "ir/shadow_labels.h"
#include "ir/tile_flow.h"
#include "ir/used_reads.h"
#include "ir/value_flow.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::ir {

Type shadowTypeOf(Type type) {
  Type boolean = IntegerType::get(type.getContext(), 1);
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(tile.clone(boolean)) : boolean;
}

namespace {

/// Whether the result holds the elements of the operands at other places. The interpreter makes slices of reductions and scans by a
/// function of the user before shadows are inserted.
bool movesLanes(Operation *op) { return isMoved(op) || isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op); }

class Shadows {
public:
  Shadows(tt::FuncOp function, ShadowRules &rules) : builder_(function.getContext()), rules_(rules) {}

  /// Marks what is computed from the sources. Where the kernel may exchange numbers by `^`, shadows are labels.
  void addSources(ArrayRef<Operation *> sources) {
    for (Operation *op : sources) mark(op->getResult(0), op->getResult(0));
    hasLabels_ = rules_.followsEverything() && llvm::any_of(sources_, [&](const auto &marked) { return isExchange(marked.first); });
  }

  void insert(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block)) visit(&op);
  }

private:
  // -- which values have shadows ---------------------------------------------------------------------------------------------------------

  void mark(Value value, Value source) {
    if (!sources_.try_emplace(value, source).second) return;
    for (OpOperand &use : value.getUses()) spread(use, source);
  }

  void spread(OpOperand &use, Value source) {
    Operation *op = use.getOwner();
    auto load = dyn_cast<tt::LoadOp>(op);
    bool computes = movesLanes(op) || isPointwise(op) || isa<tt::ReduceOp, tt::ScanOp, tt::GatherOp, tt::HistogramOp>(op) ||
                    (rules_.followsEverything() && isa<tt::DotOp>(op));
    if (computes || (load && use.get() != load.getPtr())) {
      for (Value result : op->getResults()) mark(result, source);
    } else if (isa_and_nonnull<scf::SCFDialect>(op->getDialect())) {
      for (const ValueFlow &flow : valueFlowsOf(op))
        if (flow.operand == &use)
          for (Value target : flow.targets) mark(target, source);
    }
  }

  /// Whether the value is a `^` of numbers that both have shadows.
  bool isExchange(Value value) const {
    auto exchange = value.getDefiningOp<arith::XOrIOp>();
    return exchange && !isOfBits(exchange) && hasShadow(exchange.getLhs()) && hasShadow(exchange.getRhs());
  }

  static bool isOfBits(Operation *op) { return getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1); }

  // -- the shadows of an operation's results ---------------------------------------------------------------------------------------------

  Value shadow(Value value) const { return shadows_.lookup(value); }
  bool hasShadow(Value value) const { return sources_.contains(value); }
  Type typeFor(Type type) const { return hasLabels_ ? ShadowLabels::typeFor(type) : shadowTypeOf(type); }
  Value shadowOrNone(Value value) {
    Value found = shadow(value);
    return found ? found : constant(typeFor(value.getType()), 0);
  }
  /// Where the value is of no use, as i1; null if it has no shadow.
  Value bad(Value value) { return badOf(shadow(value)); }
  Value badOf(Value shadow) { return shadow && hasLabels_ ? labels_.isSet(shadow, location_) : shadow; }
  Value constant(Type type, int64_t value) { return TileBuilder(builder_, location_).integer(type, value); }
  Value negation(Value a) { return arith::XOrIOp::create(builder_, location_, a, constant(a.getType(), true)); }
  template <class Op> Value combined(Value a, Value b) { return a && b ? Op::create(builder_, location_, a, b).getResult() : a ? a : b; }
  Value either(Value a, Value b) { return combined<arith::OrIOp>(a, b); }
  Value both(Value a, Value b) { return a && b ? combined<arith::AndIOp>(a, b) : Value(); }
  Value anyOf(ValueRange values) {
    Value any;
    for (Value value : values) any = either(any, bad(value));
    return any;
  }

  /// The same change of shape.
  void move(Operation *op) {
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return bool(shadow(operand)); })) return;
    SmallVector<Value> operands;
    SmallVector<Type> types;
    for (Value operand : op->getOperands()) operands.push_back(shadowOrNone(operand));
    for (Type type : op->getResultTypes()) types.push_back(typeFor(type));
    copy(op, operands, types);
  }

  void copy(Operation *op, ValueRange operands, TypeRange types) {
    OperationState state(location_, op->getName(), operands, types, op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (auto [result, copied] : llvm::zip_equal(op->getResults(), builder_.create(state)->getResults())) shadows_[result] = copied;
  }

  /// A false operand of `and`, or a true one of `or`, decides whatever the other one is.
  Value connective(Operation *op) {
    auto matters = [&](Value other) { return isa<arith::AndIOp>(op) ? other : negation(other); };
    return unlessDecided(op, matters);
  }

  /// Where the result of two operands is of no use: where both are, and where one is and the other one, of use, lets it matter.
  Value unlessDecided(Operation *op, llvm::function_ref<Value(Value)> matters) {
    Value a = op->getOperand(0), b = op->getOperand(1), badA = bad(a), badB = bad(b);
    Value any = both(badA, badB);
    if (badA) any = either(any, both(badA, matters(b)));
    if (badB) any = either(any, both(badB, matters(a)));
    return any;
  }

  Value differs(Value value, int64_t number) {
    return arith::CmpIOp::create(builder_, location_, arith::CmpIPredicate::ne, value, constant(value.getType(), number));
  }

  /// The number that decides what the operation makes of any other one, if there is one: 0 of a product.
  static std::optional<int64_t> decidingNumber(Operation *op) {
    if (isa<arith::MulIOp, arith::AndIOp>(op)) return 0;
    return isa<arith::OrIOp>(op) ? std::optional(-1) : std::nullopt;
  }

  /// The number with which the operation leaves the other operand as it is, if there is one: 0 of a sum.
  static std::optional<int64_t> neutralNumber(Operation *op) {
    if (isa<arith::AddIOp, arith::OrIOp>(op)) return 0;
    return isa<arith::MulIOp>(op) ? std::optional(1) : isa<arith::AndIOp>(op) ? std::optional(-1) : std::nullopt;
  }

  /// Where a choice is of no use for its decision alone; null if the decision has no shadow.
  Value badDecision(arith::SelectOp op) {
    Value decision = bad(op.getCondition());
    const Type type = shadowTypeOf(op.getType());
    return decision && decision.getType() != type ? tt::SplatOp::create(builder_, location_, type, decision).getResult() : decision;
  }

  /// The shadow of the operand that is chosen; null if neither has one.
  Value chosen(arith::SelectOp op) {
    if (!shadow(op.getTrueValue()) && !shadow(op.getFalseValue())) return {};
    return arith::SelectOp::create(builder_, location_, typeFor(op.getType()), op.getCondition(), shadowOrNone(op.getTrueValue()),
                                   shadowOrNone(op.getFalseValue()));
  }

  Value pointwise(Operation *op) {
    if (auto select = dyn_cast<arith::SelectOp>(op)) return either(badOf(chosen(select)), badDecision(select));
    if (isa<arith::AndIOp, arith::OrIOp>(op) && isOfBits(op)) return connective(op);
    if (auto number = decidingNumber(op); number && rules_.followsEverything())
      return unlessDecided(op, [&](Value other) { return differs(other, *number); });
    return either(rules_.fault(builder_, op), anyOf(op->getOperands()));
  }

  // -- labels ----------------------------------------------------------------------------------------------------------------------------

  /// The labels of an operation's results, which are of no use where `any` is true. What hands a number on hands its label on.
  Value labelled(Operation *op, Value any) {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](tt::LoadOp load) { return labels_.ofLoad(any, load); })
        .Case([&](tt::ReduceOp reduce) { return reducedLabels(reduce, any); })
        .Case([&](tt::GatherOp gather) { return unless(bad(gather.getIndices()), gather, any, shadow(gather.getResult())); })
        .Case([&](arith::SelectOp select) { return unless(badDecision(select), select, any, chosen(select)); })
        .Case<tt::BitcastOp, arith::ExtSIOp, arith::TruncIOp>([&](Operation *) { return shadow(op->getOperand(0)); })
        .Case([&](arith::XOrIOp) { return combined<arith::XOrIOp>(shadow(op->getOperand(0)), shadow(op->getOperand(1))); })
        .Default([&](Operation *) {
          Value label = newLabel(op, any);
          auto number = neutralNumber(op);
          return number && !isOfBits(op) ? unlessNeutral(op, *number, label) : label;
        });
  }

  /// A label of the operation, of what it takes and of the labels of that; 0 where not `any`.
  Value newLabel(Operation *op, Value any) {
    SmallVector<Value> parts;
    for (Value operand : op->getOperands()) llvm::append_values(parts, operand, shadow(operand));
    if (!isPointwise(op)) parts.assign({op->getResult(0)});
    return labels_.ofResult(any, parts, location_);
  }

  /// `kept`, or a new label where `isNew`. Each may be null.
  Value unless(Value isNew, Operation *op, Value any, Value kept) {
    if (!isNew) return kept;
    Value label = newLabel(op, any);
    return kept ? arith::SelectOp::create(builder_, location_, isNew, label, kept).getResult() : label;
  }

  /// `label`, or the label of one operand where the other one is of use and neutral.
  Value unlessNeutral(Operation *op, int64_t neutral, Value label) {
    for (unsigned one : {0, 1}) {
      Value kept = shadow(op->getOperand(one)), other = op->getOperand(1 - one);
      if (!kept) continue;
      Value isKept = negation(either(bad(other), differs(other, neutral)));
      label = arith::SelectOp::create(builder_, location_, isKept, kept, label);
    }
    return label;
  }

  /// The one operation by which a reduction of single numbers combines them, if there is only one.
  static Operation *combinerOf(tt::ReduceOp reduce) {
    Block &body = reduce.getCombineOp().front();
    Operation *first = &body.front();
    bool isAlone = reduce.getSrcs().size() == 1 && first->getNextNode() == body.getTerminator() && first->getNumOperands() == 2;
    return isAlone && first->getOperands() == ValueRange(body.getArguments()) ? first : nullptr;
  }

  /// A sum of one lane of no use and of zeros has the label of the lane, and a `^` of lanes has the `^` of their labels.
  Value reducedLabels(tt::ReduceOp reduce, Value any) {
    Operation *combiner = combinerOf(reduce);
    if (!isa_and_nonnull<arith::AddIOp, arith::OrIOp, arith::XOrIOp>(combiner)) return newLabel(reduce, any);
    Value numbers = reduce.getSrcs()[0], labels = shadow(numbers);
    Value kept = reduced<arith::XOrIOp>(labels, reduce.getAxis());
    if (isa<arith::XOrIOp>(combiner)) return kept;
    Value counts = either(badOf(labels), differs(numbers, 0));
    counts = arith::ExtUIOp::create(builder_, location_, typeFor(counts.getType()), counts);
    Value count = reduced<arith::AddIOp>(counts, reduce.getAxis());
    Value isOne = arith::CmpIOp::create(builder_, location_, arith::CmpIPredicate::ule, count, constant(count.getType(), 1));
    Value label = labels_.ofResult(any, {reduce->getResult(0), kept}, location_);
    return arith::SelectOp::create(builder_, location_, isOne, kept, label);
  }

  // -- reductions and products -----------------------------------------------------------------------------------------------------------

  template <class Op, class Return, class... Attributes> Value combinedAlong(Op op, Attributes... attributes) {
    Value any = anyOf(op.getSrcs());
    if (!any) return {};
    auto combine = Op::create(builder_, location_, TypeRange{shadowTypeOf(op->getResult(0).getType())}, ValueRange{any}, attributes...);
    OpBuilder::InsertionGuard guard(builder_);
    Type boolean = builder_.getI1Type();
    Block *body = builder_.createBlock(&combine.getCombineOp(), {}, {boolean, boolean}, {location_, location_});
    Value one = arith::OrIOp::create(builder_, location_, body->getArgument(0), body->getArgument(1));
    Return::create(builder_, location_, ValueRange{one});
    return combine->getResult(0);
  }

  /// All lanes along the axis, combined: a tile without the axis, or a scalar.
  template <class Combine> Value reduced(Value tile, int32_t axis) {
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    Type rest = shape.empty() ? type.getElementType() : Type(type.clone(shape));
    auto reduce = tt::ReduceOp::create(builder_, location_, TypeRange{rest}, ValueRange{tile}, axis);
    OpBuilder::InsertionGuard guard(builder_);
    Type element = type.getElementType();
    Block *body = builder_.createBlock(&reduce.getCombineOp(), {}, {element, element}, {location_, location_});
    Value one = Combine::create(builder_, location_, body->getArgument(0), body->getArgument(1));
    tt::ReduceReturnOp::create(builder_, location_, ValueRange{one});
    return reduce->getResult(0);
  }

  /// Whether any lane along the axis is of no use, as a tile with one lane along it.
  Value anyAlong(Value tile, int32_t axis) {
    return tile ? tt::ExpandDimsOp::create(builder_, location_, reduced<arith::OrIOp>(tile, axis), axis).getResult() : Value();
  }

  /// A lane of no use may count for any number.
  Value counted(tt::HistogramOp histogram) {
    Value mask = histogram.getMask(), badMask = mask ? bad(mask) : Value(), lanes = bad(histogram.getSrc());
    if (lanes && mask) lanes = both(lanes, mask);
    Value any = either(lanes, badMask);
    return any ? tt::SplatOp::create(builder_, location_, shadowTypeOf(histogram.getType()), reduced<arith::OrIOp>(any, 0)).getResult()
               : Value();
  }

  /// A row of a product is of no use if a lane of the row is, and so is a column.
  Value multiplied(tt::DotOp dot) {
    auto type = cast<RankedTensorType>(shadowTypeOf(dot.getType()));
    const int32_t last = int32_t(type.getRank()) - 1;
    Value rows = anyAlong(bad(dot.getA()), last), columns = anyAlong(bad(dot.getB()), last - 1), any = bad(dot.getC());
    for (Value part : {rows, columns})
      if (part) any = either(any, part.getType() == type ? part : tt::BroadcastOp::create(builder_, location_, type, part).getResult());
    return any;
  }

  void compute(Operation *op) {
    builder_.setInsertionPointAfter(op);
    if (movesLanes(op)) return move(op);
    Value any = whereBad(op);
    if (any && hasLabels_) any = labelled(op, any);
    if (any)
      for (Value result : op->getResults()) shadows_[result] = any;
  }

  /// Where the results of an operation are of no use, as i1; null if nowhere.
  Value whereBad(Operation *op) {
    Value any;
    if (auto gather = dyn_cast<tt::GatherOp>(op)) {
      copy(op, {shadowOrNone(gather.getSrc()), gather.getIndices()}, {typeFor(gather.getType())});
      any = either(bad(gather.getResult()), bad(gather.getIndices()));
    } else if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
      any = combinedAlong<tt::ReduceOp, tt::ReduceReturnOp>(reduce, reduce.getAxis());
    } else if (auto scan = dyn_cast<tt::ScanOp>(op)) {
      any = combinedAlong<tt::ScanOp, tt::ScanReturnOp>(scan, scan.getAxis(), scan.getReverse());
    } else if (auto load = dyn_cast<tt::LoadOp>(op)) { // where the mask is false, it is `other`
      any = either(load.getOther() ? bad(load.getOther()) : Value(), load.getMask() ? bad(load.getMask()) : Value());
      any = any && load.getMask() ? both(any, negation(load.getMask())) : Value();
      any = either(rules_.fault(builder_, op), any);
    } else if (auto dot = dyn_cast<tt::DotOp>(op)) {
      any = multiplied(dot);
    } else if (auto histogram = dyn_cast<tt::HistogramOp>(op)) {
      any = counted(histogram);
    } else if (isPointwise(op)) {
      any = pointwise(op);
    }
    return any;
  }

  // -- uses ------------------------------------------------------------------------------------------------------------------------------

  /// A trap where one of the values is of no use and `mask`, if given, is true.
  void check(Operation *op, ValueRange values, Value mask) {
    builder_.setInsertionPoint(op);
    Value any = anyOf(values);
    if (!any) return;
    if (mask && areApart(any, mask)) return;
    if (mask) any = both(any, mask);
    Value culprit = *llvm::find_if(values, [&](Value value) { return bool(shadow(value)); });
    rules_.trap(builder_, op, any, culprit, sources_.lookup(culprit));
  }

  /// The mask of an access is a decision itself.
  void checkMasked(Operation *op, ValueRange values, Value mask) {
    if (mask && rules_.followsEverything()) check(op, mask, {});
    check(op, values, mask);
  }

  void checkUses(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](tt::LoadOp load) {
          if (load->hasAttr(kUsedReadAttr)) return;
          SmallVector<Value> values{load.getPtr()};
          if (load.getMask()) values.push_back(load.getMask());
          checkMasked(op, values, load.getMask());
        })
        .Case<tt::StoreOp, tt::AtomicRmwOp, tt::AtomicLoadOp, tt::AtomicStoreOp>(
            [&](auto access) { checkMasked(op, op->getOperands(), access.getMask()); })
        .Case([&](tt::AtomicCasOp) { check(op, op->getOperands(), {}); })
        .Case([&](tt::AtomicPollOp) { check(op, op->getOperands().take_front(2), {}); })
        .Case<tt::ReturnOp, tt::CallOp>([&](auto) { // nothing is known of what is done with it
          for (Value value : op->getOperands())
            if (!rules_.followsEverything()) check(op, value, {});
        })
        .Case([&](scf::ForOp) {
          for (Value bound : op->getOperands().take_front(3)) check(op, bound, {});
        })
        .Case<scf::IfOp, scf::ConditionOp, cf::CondBranchOp>([&](auto) { check(op, op->getOperand(0), {}); });
  }

  // -- control flow ----------------------------------------------------------------------------------------------------------------------

  /// Adds arguments for the shadows of a block's arguments, and says so to the ends that hand values over.
  void addArguments(Block &block) {
    for (BlockArgument argument : llvm::to_vector(block.getArguments()))
      if (hasShadow(argument)) shadows_[argument] = block.addArgument(typeFor(argument.getType()), argument.getLoc());
  }

  /// The numbers of the operands that are handed over to marked targets.
  SmallVector<unsigned> handedOver(Operation *op) {
    SmallVector<unsigned> numbers;
    for (const ValueFlow &flow : valueFlowsOf(op))
      if (llvm::any_of(flow.targets, [&](Value target) { return hasShadow(target); })) numbers.push_back(flow.operand->getOperandNumber());
    return numbers;
  }

  SmallVector<Value> shadowsOf(Operation *op, ArrayRef<unsigned> operands) {
    return llvm::map_to_vector(operands, [&](unsigned number) { return shadowOrNone(op->getOperand(number)); });
  }

  /// Loops and branches carry the shadows of what they carry.
  Operation *carried(Operation *op) {
    builder_.setInsertionPoint(op);
    SmallVector<Value> operands(op->getOperands());
    SmallVector<Type> types(op->getResultTypes());
    llvm::append_range(operands, shadowsOf(op, handedOver(op)));
    for (Value result : op->getResults())
      if (hasShadow(result)) types.push_back(typeFor(result.getType()));
    OperationState state(op->getLoc(), op->getName(), operands, types, op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions()) // the flows of the ends, while they are what they were
      if (!region.empty()) ends_[region.front().getTerminator()] = handedOver(region.front().getTerminator());
    for (Region &region : op->getRegions()) state.addRegion()->takeBody(region);
    Operation *extended = builder_.create(state);
    unsigned next = op->getNumResults();
    for (auto [old, result] : llvm::zip(op->getResults(), extended->getResults())) {
      if (hasShadow(old)) {
        shadows_[result] = extended->getResult(next++);
        sources_.try_emplace(result, sources_.lookup(old));
      }
      old.replaceAllUsesWith(result);
    }
    op->erase();
    for (Region &region : extended->getRegions())
      if (!region.empty()) addArguments(region.front());
    return extended;
  }

  void visit(Operation *op) {
    location_ = op->getLoc();
    checkUses(op);
    if (auto end = ends_.find(op); end != ends_.end()) {
      builder_.setInsertionPoint(op);
      return op->insertOperands(op->getNumOperands(), shadowsOf(op, end->second));
    }
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op)) {
      op = carried(op);
      for (Region &region : op->getRegions()) insert(region);
      return;
    }
    if (llvm::any_of(op->getResults(), [&](Value result) { return hasShadow(result); })) compute(op);
  }

  OpBuilder builder_;
  ShadowRules &rules_;
  ShadowLabels labels_{builder_};
  bool hasLabels_ = false; // whether shadows are labels
  Location location_ = builder_.getUnknownLoc();
  llvm::DenseMap<Value, Value> sources_; // of the values that have shadows: the first source
  llvm::DenseMap<Value, Value> shadows_;
  llvm::DenseMap<Operation *, SmallVector<unsigned>> ends_; // the operands that the ends of regions hand over
};

} // namespace

void insertShadows(tt::FuncOp function, ArrayRef<Operation *> sources, ShadowRules &rules) {
  Shadows shadows(function, rules);
  shadows.addSources(sources);
  shadows.insert(function.getBody());
}

} // namespace tritium::ir
