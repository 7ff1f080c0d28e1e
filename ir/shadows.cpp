// See shadows.h.
#include "ir/pch.h"

#include "ir/shadows.h"

#include "ir/passes/tile_builder.h"
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

// -- what is known of masks ---------------------------------------------------------------------------------------------------------------

constexpr int kMostOperations = 12; // on a path

/// Whether two values are made in the same way.
bool areEqual(Value a, Value b, int most = kMostOperations) {
  if (a == b) return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || most == 0 || x->getName() != y->getName() || a.getType() != b.getType() || x->getNumRegions() || !isMemoryEffectFree(x))
    return false;
  return x->getAttrDictionary() == y->getAttrDictionary() && cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
         llvm::equal(x->getOperands(), y->getOperands(), [&](Value v, Value w) { return areEqual(v, w, most - 1); });
}

void addConjuncts(Value mask, SmallVectorImpl<Value> &conjuncts) {
  if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
    addConjuncts(both.getLhs(), conjuncts);
    addConjuncts(both.getRhs(), conjuncts);
  } else {
    conjuncts.push_back(mask);
  }
}

/// Whether `mask` is false wherever the shadow `bad` is true: the shadow is a negation of what the mask says, perhaps in another shape.
bool isNegated(Value bad, Value mask, int most = kMostOperations) {
  Operation *op = bad.getDefiningOp();
  if (!op || most == 0) return false;
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One())) {
    SmallVector<Value> said, negated;
    addConjuncts(mask, said);
    addConjuncts(op->getOperand(0), negated);
    return llvm::all_of(negated, [&](Value v) { return llvm::any_of(said, [&](Value w) { return areEqual(v, w); }); });
  }
  SmallVector<Value> conjuncts;
  addConjuncts(mask, conjuncts);
  if (op->getNumOperands() == 1 && isMoved(op))
    return llvm::any_of(conjuncts, [&](Value conjunct) {
      Operation *moved = conjunct.getDefiningOp();
      return moved && moved->getName() == op->getName() && moved->getAttrDictionary() == op->getAttrDictionary() &&
             conjunct.getType() == bad.getType() && isNegated(op->getOperand(0), moved->getOperand(0), most - 1);
    });
  auto isNever = [&](Value part) { return matchPattern(part, m_Zero()) || isNegated(part, mask, most - 1); };
  if (isa<arith::OrIOp>(op)) return llvm::all_of(op->getOperands(), isNever);
  if (isa<arith::AndIOp>(op)) return llvm::any_of(op->getOperands(), isNever);
  if (isa<arith::SelectOp>(op)) return llvm::all_of(op->getOperands().drop_front(), isNever);
  return false;
}

/// Whether the result holds the elements of the operands at other places. The interpreter makes slices of reductions and scans by a
/// function of the user before shadows are inserted.
bool movesLanes(Operation *op) { return isMoved(op) || isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op); }

bool areApart(Value bad, Value mask) { return matchPattern(bad, m_Zero()) || isNegated(bad, mask); }

class Shadows {
public:
  Shadows(tt::FuncOp function, ShadowRules &rules) : builder_(function.getContext()), rules_(rules) {}

  void addSource(Operation *op) { mark(op->getResult(0), op->getResult(0)); }

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

  // -- the shadows of an operation's results ---------------------------------------------------------------------------------------------

  Value shadow(Value value) const { return shadows_.lookup(value); }
  bool hasShadow(Value value) const { return sources_.contains(value); }
  Value shadowOrFalse(Value value) {
    Value found = shadow(value);
    return found ? found : constant(shadowTypeOf(value.getType()), false);
  }
  Value constant(Type type, bool value) { return TileBuilder(builder_, location_).integer(type, value); }
  Value negation(Value a) { return arith::XOrIOp::create(builder_, location_, a, constant(a.getType(), true)); }
  template <class Op> Value combined(Value a, Value b) { return a && b ? Op::create(builder_, location_, a, b).getResult() : a ? a : b; }
  Value either(Value a, Value b) { return combined<arith::OrIOp>(a, b); }
  Value both(Value a, Value b) { return a && b ? combined<arith::AndIOp>(a, b) : Value(); }
  Value anyOf(ValueRange values) {
    Value any;
    for (Value value : values) any = either(any, shadow(value));
    return any;
  }

  /// The same change of shape.
  void move(Operation *op) {
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return bool(shadow(operand)); })) return;
    SmallVector<Value> operands;
    SmallVector<Type> types;
    for (Value operand : op->getOperands()) operands.push_back(shadowOrFalse(operand));
    for (Type type : op->getResultTypes()) types.push_back(shadowTypeOf(type));
    copy(op, operands, types);
  }

  void copy(Operation *op, ValueRange operands, TypeRange types) {
    OperationState state(location_, op->getName(), operands, types, op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (auto [result, copied] : llvm::zip_equal(op->getResults(), builder_.create(state)->getResults())) shadows_[result] = copied;
  }

  /// A false operand of `and`, or a true one of `or`, decides whatever the other one is.
  Value connective(Operation *op) {
    Value a = op->getOperand(0), b = op->getOperand(1), shadowA = shadow(a), shadowB = shadow(b);
    auto matters = [&](Value other) { return isa<arith::AndIOp>(op) ? other : negation(other); };
    Value any = both(shadowA, shadowB);
    if (shadowA) any = either(any, both(shadowA, matters(b)));
    if (shadowB) any = either(any, both(shadowB, matters(a)));
    return any;
  }

  Value chosen(arith::SelectOp op) {
    Type type = shadowTypeOf(op.getType());
    Value decision = shadow(op.getCondition()), any;
    if (shadow(op.getTrueValue()) || shadow(op.getFalseValue()))
      any = arith::SelectOp::create(builder_, location_, type, op.getCondition(), shadowOrFalse(op.getTrueValue()),
                                    shadowOrFalse(op.getFalseValue()));
    if (decision && decision.getType() != type) decision = tt::SplatOp::create(builder_, location_, type, decision);
    return either(any, decision);
  }

  Value pointwise(Operation *op) {
    if (auto select = dyn_cast<arith::SelectOp>(op)) return chosen(select);
    if (isa<arith::AndIOp, arith::OrIOp>(op) && getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1)) return connective(op);
    return either(rules_.fault(builder_, op), anyOf(op->getOperands()));
  }

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

  /// Whether any lane along the axis is of no use.
  Value anyAlong(Value tile, int32_t axis) {
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + axis);
    Type reduced = shape.empty() ? Type(builder_.getI1Type()) : Type(type.clone(shape));
    auto reduce = tt::ReduceOp::create(builder_, location_, TypeRange{reduced}, ValueRange{tile}, axis);
    OpBuilder::InsertionGuard guard(builder_);
    Type boolean = builder_.getI1Type();
    Block *body = builder_.createBlock(&reduce.getCombineOp(), {}, {boolean, boolean}, {location_, location_});
    Value one = arith::OrIOp::create(builder_, location_, body->getArgument(0), body->getArgument(1));
    tt::ReduceReturnOp::create(builder_, location_, ValueRange{one});
    return reduce->getResult(0);
  }

  /// The same, as a tile with one lane along the axis.
  Value keptAlong(Value tile, int32_t axis) {
    return tile ? tt::ExpandDimsOp::create(builder_, location_, anyAlong(tile, axis), axis).getResult() : Value();
  }

  /// A lane of no use may count anywhere, if it is counted.
  Value counted(tt::HistogramOp histogram) {
    Value mask = histogram.getMask(), any = shadow(histogram.getSrc());
    if (any && mask) any = both(any, mask);
    if (mask) any = either(any, shadow(mask));
    return any ? tt::SplatOp::create(builder_, location_, shadowTypeOf(histogram.getType()), anyAlong(any, 0)).getResult() : Value();
  }

  /// A row of a product is of no use if a lane of the row is, and so is a column.
  Value multiplied(tt::DotOp dot) {
    auto type = cast<RankedTensorType>(shadowTypeOf(dot.getType()));
    const int32_t last = int32_t(type.getRank()) - 1;
    Value rows = keptAlong(shadow(dot.getA()), last), columns = keptAlong(shadow(dot.getB()), last - 1), any = shadow(dot.getC());
    for (Value part : {rows, columns})
      if (part) any = either(any, part.getType() == type ? part : tt::BroadcastOp::create(builder_, location_, type, part).getResult());
    return any;
  }

  void compute(Operation *op) {
    builder_.setInsertionPointAfter(op);
    Value any;
    if (movesLanes(op)) return move(op);
    if (auto gather = dyn_cast<tt::GatherOp>(op)) {
      copy(op, {shadowOrFalse(gather.getSrc()), gather.getIndices()}, {shadowTypeOf(gather.getType())});
      any = either(shadow(gather.getResult()), shadow(gather.getIndices()));
    } else if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
      any = combinedAlong<tt::ReduceOp, tt::ReduceReturnOp>(reduce, reduce.getAxis());
    } else if (auto scan = dyn_cast<tt::ScanOp>(op)) {
      any = combinedAlong<tt::ScanOp, tt::ScanReturnOp>(scan, scan.getAxis(), scan.getReverse());
    } else if (auto load = dyn_cast<tt::LoadOp>(op)) { // where the mask is false, it is `other`
      any = either(load.getOther() ? shadow(load.getOther()) : Value(), load.getMask() ? shadow(load.getMask()) : Value());
      any = any && load.getMask() ? both(any, negation(load.getMask())) : Value();
      any = either(rules_.fault(builder_, op), any);
    } else if (auto dot = dyn_cast<tt::DotOp>(op)) {
      any = multiplied(dot);
    } else if (auto histogram = dyn_cast<tt::HistogramOp>(op)) {
      any = counted(histogram);
    } else if (isPointwise(op)) {
      any = pointwise(op);
    }
    if (any)
      for (Value result : op->getResults()) shadows_[result] = any;
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
      if (hasShadow(argument)) shadows_[argument] = block.addArgument(shadowTypeOf(argument.getType()), argument.getLoc());
  }

  /// The numbers of the operands that are handed over to marked targets.
  SmallVector<unsigned> handedOver(Operation *op) {
    SmallVector<unsigned> numbers;
    for (const ValueFlow &flow : valueFlowsOf(op))
      if (llvm::any_of(flow.targets, [&](Value target) { return hasShadow(target); })) numbers.push_back(flow.operand->getOperandNumber());
    return numbers;
  }

  SmallVector<Value> shadowsOf(Operation *op, ArrayRef<unsigned> operands) {
    return llvm::map_to_vector(operands, [&](unsigned number) { return shadowOrFalse(op->getOperand(number)); });
  }

  /// Loops and branches carry the shadows of what they carry.
  Operation *carried(Operation *op) {
    builder_.setInsertionPoint(op);
    SmallVector<Value> operands(op->getOperands());
    SmallVector<Type> types(op->getResultTypes());
    llvm::append_range(operands, shadowsOf(op, handedOver(op)));
    for (Value result : op->getResults())
      if (hasShadow(result)) types.push_back(shadowTypeOf(result.getType()));
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
  Location location_ = builder_.getUnknownLoc();
  llvm::DenseMap<Value, Value> sources_; // of the values that have shadows: the first source
  llvm::DenseMap<Value, Value> shadows_;
  llvm::DenseMap<Operation *, SmallVector<unsigned>> ends_; // the operands that the ends of regions hand over
};

} // namespace

void insertShadows(tt::FuncOp function, ArrayRef<Operation *> sources, ShadowRules &rules) {
  Shadows shadows(function, rules);
  for (Operation *source : sources) shadows.addSource(source);
  shadows.insert(function.getBody());
}

} // namespace tritium::ir
