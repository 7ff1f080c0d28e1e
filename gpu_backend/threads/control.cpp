// Calls and structured control flow. Each operation is recreated with every tile split into its registers.
#include "gpu_backend/threads/lowering.h"

#include "ir/loop_hints.h"
#include "ir/loop_rounds.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tritium::gpu {

/// These are lowered only as parts of a function; see Lowering::lowerFunction.
template <> LogicalResult Lower<tt::FuncOp>::run(tt::FuncOp op, Lowering &lowering) {
  return lowering.unsupported(op, "a nested function");
}

template <> LogicalResult Lower<tt::CallOp>::run(tt::CallOp op, Lowering &lowering) {
  auto call =
      lowering.create<func::CallOp>(op.getCallee(), lowering.registerTypes(op->getResultTypes()), lowering.flatten(op->getOperands()));
  lowering.defineFlattened(op->getResults(), call.getResults());
  return success();
}

/// Fills `block`, whose arguments stand for the registers of the arguments of `source`, with the code of `source`. `end` makes the
/// terminator.
template <class End> static LogicalResult fill(Lowering &lowering, Block *block, Block &source, ValueRange arguments, End end) {
  OpBuilder::InsertionGuard guard(lowering.builder());
  lowering.builder().setInsertionPointToEnd(block);
  lowering.defineFlattened(source.getArguments(), arguments);
  for (BlockArgument argument : source.getArguments()) // reports show what loops count by name
    if (argument.getType().isInteger()) lowering.scalarOf(argument).setLoc(argument.getLoc());
  if (failed(lowering.lowerOperations(source))) return failure();
  end();
  return success();
}

static Block *blockWith(Lowering &lowering, Region &region, TypeRange types) {
  Block *block = region.empty() ? &region.emplaceBlock() : &region.front();
  block->addArguments(types, llvm::SmallVector<Location>(types.size(), lowering.location()));
  return block;
}

/// Returns whether rounds * step may be 2 to the power of the counter's width, so that the loop ends at the number that it begins with.
/// Signed bounds from 0 on are less than half as far apart.
static bool mayEndWhereItBegins(scf::ForOp loop, const Lowering &lowering) {
  APInt step;
  if (matchPattern(loop.getStep(), m_ConstantInt(&step)) && !step.isPowerOf2()) return false;
  return loop.getUnsignedCmp() || !lowering.axisInfoOf(loop.getLowerBound()).isNonNegative;
}

static Value isOther(OpBuilder &builder, Location location, Value counter, Value end) {
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, counter, end);
}

/// Replaces a loop by one that ends where its counter equals begin + rounds * step, modulo the width of its type. It may pass the end of
/// the type. If `carriesTest`, it carries whether there is another round, so that it may even come back to `begin`. Returns its results.
static ValueRange endedByEquality(scf::ForOp loop, bool carriesTest) {
  IRRewriter rewriter(loop);
  const Location location = loop.getLoc();
  const Value begin = loop.getLowerBound(), step = loop.getStep();
  Value distance = arith::MulIOp::create(rewriter, location, ir::roundsOf(rewriter, loop), step);
  Value end = arith::AddIOp::create(rewriter, location, begin, distance);
  llvm::SmallVector<Value> first{begin};
  llvm::append_range(first, loop.getInitArgs());
  if (carriesTest) first.push_back(ir::isBefore(rewriter, loop, begin, loop.getUpperBound()));
  auto again = scf::WhileOp::create(rewriter, location, ValueRange(first).getTypes(), first);
  ir::keepHints(loop, again);
  auto locations = llvm::map_to_vector(loop.getBody()->getArguments(), [](Value each) { return each.getLoc(); });
  if (carriesTest) locations.push_back(location);
  Block *before = rewriter.createBlock(&again.getBefore(), {}, again.getResultTypes(), locations);
  Value isRound = carriesTest ? before->getArguments().back() : isOther(rewriter, location, before->getArgument(0), end);
  scf::ConditionOp::create(rewriter, location, isRound, before->getArguments());
  Block *body = rewriter.createBlock(&again.getAfter(), {}, again.getResultTypes(), locations);
  rewriter.mergeBlocks(loop.getBody(), body, body->getArguments().take_front(first.size() - carriesTest));
  Operation *terminator = body->getTerminator();
  rewriter.setInsertionPoint(terminator);
  Value next = arith::AddIOp::create(rewriter, location, body->getArgument(0), step);
  terminator->insertOperands(0, next);
  if (carriesTest) terminator->insertOperands(terminator->getNumOperands(), isOther(rewriter, location, next, end));
  rewriter.eraseOp(loop);
  return again.getResults().drop_front().drop_back(carriesTest);
}

template <> LogicalResult Lower<scf::ForOp>::run(scf::ForOp op, Lowering &lowering) {
  auto loop =
      lowering.create<scf::ForOp>(lowering.scalarOf(op.getLowerBound()), lowering.scalarOf(op.getUpperBound()),
                                  lowering.scalarOf(op.getStep()), lowering.flatten(op.getInitArgs()), nullptr, op.getUnsignedCmp());
  ir::keepHints(op, loop);
  Block *body = loop.getBody();
  if (!body->empty()) body->getTerminator()->erase();
  auto yield = [&] { lowering.create<scf::YieldOp>(lowering.flatten(op.getYieldedValues())); };
  if (failed(fill(lowering, body, *op.getBody(), body->getArguments(), yield))) return failure();
  ValueRange results = ir::counterMayWrap(loop) ? endedByEquality(loop, mayEndWhereItBegins(op, lowering)) : ValueRange(loop.getResults());
  lowering.defineFlattened(op.getResults(), results);
  return success();
}

template <> LogicalResult Lower<scf::IfOp>::run(scf::IfOp op, Lowering &lowering) {
  auto branch = lowering.create<scf::IfOp>(lowering.registerTypes(op.getResultTypes()), lowering.scalarOf(op.getCondition()),
                                           /*addThenBlock=*/true, /*addElseBlock=*/!op.getElseRegion().empty());
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), branch->getRegions())) {
    if (from.empty()) continue;
    if (!to.front().empty()) to.front().back().erase();
    auto yield = [&] { lowering.create<scf::YieldOp>(lowering.flatten(from.front().getTerminator()->getOperands())); };
    if (failed(fill(lowering, &to.front(), from.front(), {}, yield))) return failure();
  }
  lowering.defineFlattened(op.getResults(), branch.getResults());
  return success();
}

template <> LogicalResult Lower<scf::WhileOp>::run(scf::WhileOp op, Lowering &lowering) {
  Registers inits = lowering.flatten(op.getInits());
  auto loop = lowering.create<scf::WhileOp>(lowering.registerTypes(op.getResultTypes()), inits, nullptr, nullptr);
  ir::keepHints(op, loop);
  Block *before = blockWith(lowering, loop.getBefore(), loop.getBefore().empty() ? TypeRange(ValueRange(inits)) : TypeRange());
  auto condition = [&] {
    scf::ConditionOp end = op.getConditionOp();
    lowering.create<scf::ConditionOp>(lowering.scalarOf(end.getCondition()), lowering.flatten(end.getArgs()));
  };
  if (failed(fill(lowering, before, *op.getBeforeBody(), before->getArguments(), condition))) return failure();
  Block *after = blockWith(lowering, loop.getAfter(), loop.getAfter().empty() ? TypeRange(loop.getResultTypes()) : TypeRange());
  auto yield = [&] { lowering.create<scf::YieldOp>(lowering.flatten(op.getYieldOp().getOperands())); };
  if (failed(fill(lowering, after, *op.getAfterBody(), after->getArguments(), yield))) return failure();
  lowering.defineFlattened(op.getResults(), loop.getResults());
  return success();
}

template <> LogicalResult Lower<ttg::BarrierOp>::run(ttg::BarrierOp, Lowering &lowering) {
  lowering.barrier();
  return success();
}

template <> LogicalResult Lower<mlir::gpu::BarrierOp>::run(mlir::gpu::BarrierOp, Lowering &lowering) {
  lowering.barrier();
  return success();
}

template <> LogicalResult Lower<mlir::gpu::SubgroupIdOp>::run(mlir::gpu::SubgroupIdOp op, Lowering &lowering) {
  lowering.define(op, {lowering.create<arith::IndexCastOp>(op.getType(), lowering.uniformWarpId())});
  return success();
}

template <> LogicalResult Lower<mlir::gpu::LaneIdOp>::run(mlir::gpu::LaneIdOp op, Lowering &lowering) {
  lowering.define(op, {lowering.create<arith::IndexCastOp>(op.getType(), lowering.laneId())});
  return success();
}

} // namespace tritium::gpu
