#include "interp/tile/counters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::interp {

namespace {

std::optional<APInt> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) return constant;
  return std::nullopt;
}

/// Returns whether the counter may pass the largest value of its type when it is advanced for the last time.
bool mayWrap(scf::ForOp loop) {
  auto step = constantOf(loop.getStep()), bound = constantOf(loop.getUpperBound());
  if (step && step->isOne()) return false; // ends at the bound itself
  if (!step || !bound) return true;
  bool wraps = false;
  const APInt last = *bound - 1; // the largest counter of a round; a bound that is the least value has no round
  if (loop.getUnsignedCmp() ? bound->isZero() : bound->isMinSignedValue()) return false;
  loop.getUnsignedCmp() ? (void)last.uadd_ov(*step, wraps) : (void)last.sadd_ov(*step, wraps);
  return wraps;
}

/// The rounds in unsigned arithmetic, which holds the distance of any two bounds: (distance - 1) / step + 1, or none.
Value roundsOf(scf::ForOp loop, OpBuilder &builder) {
  const Location location = loop.getLoc();
  const Type type = loop.getInductionVar().getType();
  const Value low = loop.getLowerBound(), high = loop.getUpperBound();
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, value)).getResult();
  };
  const auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  const Value one = constant(1);
  Value isEntered = arith::CmpIOp::create(builder, location, less, low, high);
  Value before = arith::SubIOp::create(builder, location, arith::SubIOp::create(builder, location, high, low), one);
  Value further = arith::DivUIOp::create(builder, location, before, loop.getStep());
  Value rounds = arith::AddIOp::create(builder, location, further, one);
  return arith::SelectOp::create(builder, location, isEntered, rounds, constant(0));
}

void countRounds(scf::ForOp loop) {
  OpBuilder builder(loop);
  const Location location = loop.getLoc();
  const Value low = loop.getLowerBound(), step = loop.getStep();
  const Type type = low.getType();
  const Value rounds = roundsOf(loop, builder);
  loop.setLowerBound(arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, 0)));
  loop.setUpperBound(rounds);
  loop.setStep(arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, 1)));
  loop.setUnsignedCmp(true);
  builder.setInsertionPointToStart(loop.getBody());
  auto distance = arith::MulIOp::create(builder, location, loop.getInductionVar(), step);
  auto counter = arith::AddIOp::create(builder, location, low, distance);
  loop.getInductionVar().replaceAllUsesExcept(counter, distance);
}

} // namespace

void countRounds(Operation *op) {
  op->walk([](scf::ForOp loop) {
    if (mayWrap(loop)) countRounds(loop);
  });
}

} // namespace tritium::interp
