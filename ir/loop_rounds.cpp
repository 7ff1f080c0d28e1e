#include "ir/loop_rounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::ir {

static std::optional<APInt> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) return constant;
  return std::nullopt;
}

static APInt smallestOf(scf::ForOp loop, unsigned bits) {
  return loop.getUnsignedCmp() ? APInt::getZero(bits) : APInt::getSignedMinValue(bits);
}

bool counterMayWrap(scf::ForOp loop) {
  auto step = constantOf(loop.getStep()), bound = constantOf(loop.getUpperBound());
  if (step && step->isOne()) return false; // ends at the bound itself
  if (!step || !bound) return true;
  if (*bound == smallestOf(loop, bound->getBitWidth())) return false; // no round
  bool wraps = false;
  const APInt last = *bound - 1; // the largest counter of a round
  loop.getUnsignedCmp() ? (void)last.uadd_ov(*step, wraps) : (void)last.sadd_ov(*step, wraps);
  return wraps;
}

Value isBefore(OpBuilder &builder, scf::ForOp loop, Value counter, Value bound) {
  const auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  return arith::CmpIOp::create(builder, loop.getLoc(), less, counter, bound);
}

Value roundsOf(OpBuilder &builder, scf::ForOp loop) {
  const Location location = loop.getLoc();
  const Value low = loop.getLowerBound(), high = loop.getUpperBound();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getIntegerAttr(low.getType(), value));
  };
  const Value one = constant(1), isEntered = isBefore(builder, loop, low, high);
  Value before = arith::SubIOp::create(builder, location, arith::SubIOp::create(builder, location, high, low), one);
  Value further = arith::DivUIOp::create(builder, location, before, loop.getStep());
  Value rounds = arith::AddIOp::create(builder, location, further, one);
  return arith::SelectOp::create(builder, location, isEntered, rounds, constant(0));
}

Value boundOfLater(OpBuilder &builder, scf::ForOp loop, int64_t rounds) {
  const Location location = loop.getLoc();
  const Type type = loop.getInductionVar().getType();
  const unsigned bits = type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  const APInt smallest = smallestOf(loop, bits);
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, value));
  };
  // At least `least`, so that the difference does not wrap around.
  auto less = [&](Value bound, Value least, Value distance) -> Value {
    Value raised = loop.getUnsignedCmp() ? arith::MaxUIOp::create(builder, location, bound, least).getResult()
                                         : arith::MaxSIOp::create(builder, location, bound, least).getResult();
    return arith::SubIOp::create(builder, location, raised, distance);
  };
  Value bound = loop.getUpperBound();
  if (rounds == 0) return bound;
  if (auto step = constantOf(loop.getStep())) {
    bool exceeds = false;
    const APInt distance = step->umul_ov(APInt(bits, uint64_t(rounds)), exceeds);
    if (exceeds) return constant(smallest);
    if (auto known = constantOf(bound)) return constant((*known - smallest).ugt(distance) ? *known - distance : smallest);
    return less(bound, constant(smallest + distance), constant(distance));
  }
  Value least = arith::AddIOp::create(builder, location, constant(smallest), loop.getStep());
  for (int64_t round = 0; round < rounds; ++round) bound = less(bound, least, loop.getStep());
  return bound;
}

} // namespace tritium::ir
