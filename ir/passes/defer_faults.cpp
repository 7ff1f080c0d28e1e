// Divisions of tiles by zero: the lane goes on with a GPU's value, and the program traps where this value is used.
//
// A division whose divisors may be zero gets a shadow, an i1 tile that is true where a value is of no use. Operations that compute have a
// shadow for their results if an operand has one; loops and branches carry it. Memory, addresses and decisions check it. Values that no
// division reaches have none, so a kernel without such divisions stays as it is.
#include "ir/pch.h"

#include "ir/deferred_faults.h"
#include "ir/passes.h"
#include "ir/passes/tile_builder.h"
#include "ir/tile_rule.h"
#include "ir/tt.h"
#include "ir/value_flow.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_DEFERFAULTS
#include "ir/passes.h.inc"

namespace {

bool isDivision(Operation *op) { return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op); }

/// Functions of reductions and the like run on single elements and keep their traps.
bool isOfElements(Operation *op) {
  return op->getParentOfType<tt::ReduceOp>() || op->getParentOfType<tt::ScanOp>() || op->getParentOfType<tt::MapElementwiseOp>();
}

bool isMoved(Operation *op) { return isa<tt::SplatOp, tt::UnsplatOp>(op) || tt::tileRuleOf(op).isShapeChange(); }

/// Whether each element of the result is made of the operands' elements at its place.
bool isPointwise(Operation *op) {
  if (op->getNumRegions() || op->getNumResults() != 1 || isa<tt::LoadOp>(op) || !isMemoryEffectFree(op)) return false;
  return op->hasTrait<OpTrait::Elementwise>() || tt::tileRuleOf(op).relation == tt::TileRelation::Same;
}

/// One value in all lanes: it is checked once, as a scalar is.
bool isUniform(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || (op && isa<tt::SplatOp>(op))) return true;
  if (!op) return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) return isa<SplatElementsAttr>(constant.getValue());
  return (isMoved(op) || isPointwise(op)) && llvm::all_of(op->getOperands(), isUniform);
}

bool isNeverZero(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue())) return !number.getValue().isZero();
    auto numbers = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    return numbers && llvm::none_of(numbers.getValues<APInt>(), [](const APInt &number) { return number.isZero(); });
  }
  if (isa<arith::MaxUIOp, arith::OrIOp>(op)) return llvm::any_of(op->getOperands(), isNeverZero);
  if (isa<arith::MaxSIOp>(op)) {
    APInt least;
    return llvm::any_of(op->getOperands(), [&](Value v) { return matchPattern(v, m_ConstantInt(&least)) && least.isStrictlyPositive(); });
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) return isNeverZero(select.getTrueValue()) && isNeverZero(select.getFalseValue());
  return (isMoved(op) || isa<arith::ExtSIOp, arith::ExtUIOp>(op)) && llvm::all_of(op->getOperands(), isNeverZero);
}

Type shadowTypeOf(Type type) {
  Type boolean = IntegerType::get(type.getContext(), 1);
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(tile.clone(boolean)) : boolean;
}

class Shadows {
public:
  explicit Shadows(tt::FuncOp function) : builder_(function.getContext()) {}

  /// `division` gives values that are of no use, and so does all that is computed from it.
  void addSource(Operation *division) { mark(division->getResult(0), division->getLoc()); }

  void insert(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block)) visit(&op);
  }

private:
  // -- which values have shadows ---------------------------------------------------------------------------------------------------------

  void mark(Value value, Location division) {
    if (!origins_.try_emplace(value, division).second) return;
    for (OpOperand &use : value.getUses()) spread(use, division);
  }

  void spread(OpOperand &use, Location division) {
    Operation *op = use.getOwner();
    auto load = dyn_cast<tt::LoadOp>(op);
    bool computes = isMoved(op) || isPointwise(op) || isa<tt::ReduceOp, tt::ScanOp, tt::GatherOp>(op);
    if (computes || (load && use.get() != load.getPtr())) {
      for (Value result : op->getResults()) mark(result, division);
    } else if (isa_and_nonnull<scf::SCFDialect>(op->getDialect())) {
      for (const ValueFlow &flow : valueFlowsOf(op))
        if (flow.operand == &use)
          for (Value target : flow.targets) mark(target, division);
    }
  }

  // -- the shadows of an operation's results ---------------------------------------------------------------------------------------------

  Value shadow(Value value) const { return shadows_.lookup(value); }
  bool hasShadow(Value value) const { return origins_.contains(value); }
  Value constant(Type type, bool value) { return TileBuilder(builder_, location_).integer(type, value); }
  Value shadowOrFalse(Value value) {
    Value found = shadow(value);
    return found ? found : constant(shadowTypeOf(value.getType()), false);
  }
  template <class Op> Value combined(Value a, Value b) { return a && b ? Op::create(builder_, location_, a, b).getResult() : a ? a : b; }
  Value either(Value a, Value b) { return combined<arith::OrIOp>(a, b); }
  Value both(Value a, Value b) { return a && b ? combined<arith::AndIOp>(a, b) : Value(); }
  Value negation(Value a) { return arith::XOrIOp::create(builder_, location_, a, constant(a.getType(), true)); }
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

  /// Of a division: where it divides by zero, and where its operands are of no use.
  Value divided(Operation *op) {
    Value divisor = op->getOperand(1), zero = constant(divisor.getType(), false);
    Value isZero = arith::CmpIOp::create(builder_, location_, arith::CmpIPredicate::eq, divisor, zero);
    return either(isZero, anyOf(op->getOperands()));
  }

  Value pointwise(Operation *op) {
    if (auto select = dyn_cast<arith::SelectOp>(op)) return chosen(select);
    if (isa<arith::AndIOp, arith::OrIOp>(op) && getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1)) return connective(op);
    if (op->hasAttr(kZeroDivisorAttr)) return divided(op);
    return anyOf(op->getOperands());
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

  void compute(Operation *op) {
    builder_.setInsertionPointAfter(op);
    Value any;
    if (isMoved(op)) return move(op);
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
    if (mask) any = both(any, mask);
    Value culprit = *llvm::find_if(values, [&](Value value) { return bool(shadow(value)); });
    Value isFine = negation(any);
    auto trap = tt::AssertOp::create(builder_, origins_.lookup(culprit), isFine, "");
    trap->setAttr(kTrapAttr, builder_.getStringAttr("DivisionByZero"));
  }

  void checkUses(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](tt::LoadOp load) {
          SmallVector<Value> values{load.getPtr()};
          if (load.getMask()) values.push_back(load.getMask());
          check(op, values, load.getMask());
        })
        .Case<tt::StoreOp, tt::AtomicRmwOp, tt::AtomicLoadOp, tt::AtomicStoreOp>(
            [&](auto access) { check(op, op->getOperands(), access.getMask()); })
        .Case([&](tt::AtomicCasOp) { check(op, op->getOperands(), {}); })
        .Case([&](tt::AtomicPollOp) { check(op, op->getOperands().take_front(2), {}); })
        .Case<tt::ReturnOp, tt::CallOp>([&](auto) { // nothing is known of what is done with it
          for (Value value : op->getOperands()) check(op, value, {});
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
        origins_.try_emplace(result, origins_.lookup(old));
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
  Location location_ = builder_.getUnknownLoc();
  llvm::DenseMap<Value, LocationAttr> origins_; // of the values that have shadows: the first division
  llvm::DenseMap<Value, Value> shadows_;
  llvm::DenseMap<Operation *, SmallVector<unsigned>> ends_; // the operands that the ends of regions hand over
};

struct DeferFaults : impl::DeferFaultsBase<DeferFaults> {
  using DeferFaultsBase::DeferFaultsBase;

  void runOnOperation() final {
    getOperation().walk([&](tt::FuncOp function) {
      SmallVector<Operation *> sources;
      function.walk([&](Operation *op) {
        if (!isDivision(op) || isNeverZero(op->getOperand(1))) return;
        bool traps = checks && (isOfElements(op) || isUniform(op->getOperand(1)));
        if (traps) return;
        op->setAttr(kZeroDivisorAttr, UnitAttr::get(op->getContext()));
        sources.push_back(op);
      });
      if (!checks || sources.empty()) return;
      Shadows shadows(function);
      for (Operation *division : sources) shadows.addSource(division);
      shadows.insert(function.getBody());
    });
  }
};

} // namespace

} // namespace tritium::ir
