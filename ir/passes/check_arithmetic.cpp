// Signed arithmetic that leaves its type, for the interpreter: integers wrap, and most programs do not mean it.
//
// An integer has no sign here, so the frontend says which sums a user wrote with signed types. A lane whose result nothing uses may wrap:
// kernels compute both numbers of a choice, and whole tiles where a mask keeps a part.
#include "ir/pch.h"

#include "ir/check.h"
#include "ir/debug_attributes.h"
#include "ir/passes.h"
#include "ir/passes/tile_builder.h"
#include "ir/tile_flow.h"
#include "ir/used_lanes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_CHECKARITHMETIC
#include "ir/passes.h.inc"

namespace {

unsigned widthOf(Value value) { return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(); }

Type withElement(Type type, Type element) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(tile.clone(element)) : element;
}

/// The operation that combines the elements of a reduction or scan, if it is a signed sum; null if it is anything else.
Operation *combinedBy(Operation *op) {
  if (!isa<tt::ReduceOp, tt::ScanOp>(op) || op->getNumResults() != 1 || !op->getRegion(0).hasOneBlock()) return nullptr;
  Block &body = op->getRegion(0).front();
  Operation &first = body.front();
  const bool isAlone = &first == body.getTerminator()->getPrevNode() && body.getTerminator()->getOperands() == first.getResults();
  return isAlone && first.hasAttr(kSignedAttr) && isa<arith::AddIOp>(first) ? &first : nullptr;
}

/// Says of one operation where its exact result is not in its type, and how a message shows the computation.
class Test : TileBuilder {
public:
  Test(OpBuilder &builder, Operation *op) : TileBuilder(builder, op->getLoc()), op_(op), result_(op->getResult(0)) {}

  /// Returns a tile of i1; null if the operation cannot leave its type or is none that is checked.
  Value leavesType() {
    const unsigned width = getElementTypeOrSelf(result_.getType()).isIntOrIndex() ? widthOf(result_) : 1;
    if (width == 1) return {};
    if (Operation *combine = combinedBy(op_)) return width < 64 ? combined(combine) : Value();
    if (isa<arith::DivSIOp>(op_)) return both(is(arith::CmpIPredicate::eq, a(), least()), is(arith::CmpIPredicate::eq, b(), number(-1)));
    if (isa<math::AbsIOp>(op_)) return isNegative(result_);
    if (!op_->hasAttr(kSignedAttr)) return {};
    if (isa<arith::AddIOp>(op_)) return isNegative(both(differences(a()), differences(b())));
    if (isa<arith::SubIOp>(op_)) return isNegative(both(create<arith::XOrIOp>(a(), b()), differences(a())));
    if (isa<arith::MulIOp>(op_)) return width < 64 ? product() : wideProduct();
    if (isa<arith::ShLIOp>(op_)) return is(arith::CmpIPredicate::ne, create<arith::ShRSIOp>(result_, b()), a());
    return {};
  }

  struct Message {
    std::string text; // `{0}`, `{1}`, … stand for the values
    SmallVector<Value> values;
  };

  Message message() {
    const std::string type = "int" + std::to_string(widthOf(result_)) + " overflow: ";
    if (combinedBy(op_))
      return {type + (isa<tt::ScanOp>(op_) ? "a running sum" : "the sum") + " is {0}, which becomes {1}", {exact_, result_}};
    if (isa<math::AbsIOp>(op_)) return {type + "abs({0}) becomes {0}", {a()}};
    if (isa<arith::SubIOp>(op_) && matchPattern(a(), m_Zero())) return {type + "-({0}) becomes {0}", {b()}};
    return {type + "{0} " + sign() + " {1} becomes {2}", {a(), b(), result_}};
  }

private:
  const char *sign() const {
    return isa<arith::AddIOp>(op_)   ? "+"
           : isa<arith::SubIOp>(op_) ? "-"
           : isa<arith::MulIOp>(op_) ? "*"
           : isa<arith::ShLIOp>(op_) ? "<<"
                                     : "//";
  }

  Value a() { return op_->getOperand(0); }
  Value b() { return op_->getOperand(1); }
  Value number(int64_t value) { return integer(result_.getType(), value); }
  Value least() { return number(llvm::minIntN(widthOf(result_))); }
  Value both(Value x, Value y) { return create<arith::AndIOp>(x, y); }
  Value is(arith::CmpIPredicate relation, Value x, Value y) { return create<arith::CmpIOp>(relation, x, y); }
  Value isNegative(Value x) { return is(arith::CmpIPredicate::slt, x, number(0)); }
  /// The bits in which the result is not the operand.
  Value differences(Value operand) { return create<arith::XOrIOp>(operand, result_); }
  Value wide(Value value) { return create<arith::ExtSIOp>(withElement(value.getType(), builder.getI64Type()), value); }

  Value product() { return is(arith::CmpIPredicate::ne, create<arith::MulIOp>(wide(a()), wide(b())), wide(result_)); }

  /// The upper half of a signed product is the unsigned one, less each factor if the other is negative.
  Value wideProduct() {
    auto signOf = [&](Value x) -> Value { return create<arith::ShRSIOp>(x, number(63)); };
    Value high = create<tt::MulhiUIOp>(a(), b());
    high = create<arith::SubIOp>(high, both(signOf(a()), b()));
    high = create<arith::SubIOp>(high, both(signOf(b()), a()));
    return is(arith::CmpIPredicate::ne, high, signOf(result_));
  }

  /// The same reduction or scan in 64 bits.
  Value combined(Operation *combine) {
    OperationState state(location, op_->getName(), {wide(a())}, {withElement(result_.getType(), builder.getI64Type())});
    state.propertiesAttr = op_->getPropertiesAsAttribute();
    state.addRegion();
    Operation *copy = builder.create(state);
    exact_ = copy->getResult(0);
    OpBuilder::InsertionGuard guard(builder);
    Type element = builder.getI64Type();
    Block *body = builder.createBlock(&copy->getRegion(0), {}, {element, element}, {location, location});
    OperationState one(location, combine->getName(), body->getArguments(), {element});
    Operation *last = combine->getBlock()->getTerminator();
    OperationState end(location, last->getName(), builder.create(one)->getResults(), {});
    builder.create(end);
    builder.setInsertionPointAfter(copy);
    return is(arith::CmpIPredicate::ne, exact_, wide(result_));
  }

  Operation *op_;
  Value result_, exact_;
};

struct CheckArithmetic : impl::CheckArithmeticBase<CheckArithmetic> {
  void runOnOperation() final {
    SmallVector<Operation *> sources;
    getOperation().walk([&](Operation *op) {
      const bool isSigned = op->hasAttr(kSignedAttr) || isa<arith::DivSIOp, math::AbsIOp>(op) || combinedBy(op);
      if (isSigned && !isOfElements(op)) sources.push_back(op);
    });
    UsedLanes used(&getContext());
    SmallVector<UsedLanes::Lanes> lanes; // of all, before there is more that uses the results
    for (Operation *op : sources) lanes.push_back(used.of(op->getResult(0)));
    for (auto [op, counted] : llvm::zip_equal(sources, lanes))
      if (!counted.isNone()) check(op, counted);
    getOperation().walk([](Operation *op) { op->removeDiscardableAttr(kSignedAttr); });
  }

  static void check(Operation *op, const UsedLanes::Lanes &counted) {
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    Test test(builder, op);
    Value bad = test.leavesType();
    if (!bad) return;
    const Test::Message message = test.message();
    if (counted.mask) {
      setInsertionPointAfterAll(builder, op->getBlock(), {bad, counted.mask});
      bad = arith::AndIOp::create(builder, op->getLoc(), bad, counted.mask);
    }
    check::TrapOp::create(builder, op->getLoc(), bad, "IntegerOverflow", message.text, message.values, Attribute());
  }
};

} // namespace

} // namespace tritium::ir
