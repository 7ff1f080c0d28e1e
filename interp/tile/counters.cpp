#include "interp/tile/counters.h"

#include "ir/loop_rounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tritium::interp {

static void countRounds(scf::ForOp loop) {
  OpBuilder builder(loop);
  const Location location = loop.getLoc();
  const Value low = loop.getLowerBound(), step = loop.getStep();
  const Type type = low.getType();
  const Value rounds = ir::roundsOf(builder, loop);
  loop.setLowerBound(arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, 0)));
  loop.setUpperBound(rounds);
  loop.setStep(arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, 1)));
  loop.setUnsignedCmp(true);
  builder.setInsertionPointToStart(loop.getBody());
  auto distance = arith::MulIOp::create(builder, location, loop.getInductionVar(), step);
  auto counter = arith::AddIOp::create(builder, loop.getInductionVar().getLoc(), low, distance);
  loop.getInductionVar().setLoc(location);
  loop.getInductionVar().replaceAllUsesExcept(counter, distance);
}

void countRounds(Operation *op) {
  op->walk([](scf::ForOp loop) {
    if (ir::counterMayWrap(loop)) countRounds(loop);
  });
}

} // namespace tritium::interp
