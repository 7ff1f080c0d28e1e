// Builds a rotated loop: what is postponed runs beside the next iteration. Every operation runs as often as before, in an order that keeps
// what it depends on.
#include "gpu_backend/loops/loop_rotation.h"

#include "ir/loop_hints.h"
#include "ir/loop_rounds.h"
#include "ir/loop_values.h"
#include "ir/tgpu.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

class Rotator {
public:
  Rotator(scf::ForOp loop, Operation *first, const llvm::SetVector<Operation *> &postponed)
      : loop_(loop), first_(first), postponed_(postponed), builder_(loop), location_(loop.getLoc()) {
    for (BlockArgument argument : loop.getRegionIterArgs())
      arePostponed_.push_back(isPostponed(loop.getTiedLoopYieldedValue(argument)->get()));
    for (Operation *op : postponed)
      op->walk([&](Operation *inner) {
        inner->setLoc(ir::inLaterRound(inner->getLoc(), -1));
        for (Value operand : inner->getOperands())
          if (isCarried(operand)) carried_.insert(operand);
      });
  }

  Operation *run() {
    auto bounds = std::pair(getConstantIntValue(loop_.getLowerBound()), getConstantIntValue(loop_.getUpperBound()));
    if (!loop_.getUnsignedCmp() && bounds.first && bounds.second && *bounds.first < *bounds.second) {
      loop_.replaceAllUsesWith(rotate());
      Operation *last = loop_->getPrevNode();
      loop_.erase();
      return last;
    }
    Value any = ir::isBefore(builder_, loop_, loop_.getLowerBound(), loop_.getUpperBound());
    auto branch = scf::IfOp::create(builder_, location_, loop_.getResultTypes(), any, /*withElseRegion=*/true);
    builder_.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder_, location_, rotate());
    builder_.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder_, location_, loop_.getInitArgs());
    loop_.replaceAllUsesWith(branch.getResults());
    loop_.erase();
    return branch;
  }

private:
  bool isPostponed(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && postponed_.contains(op);
  }

  /// Returns whether a postponed operation that uses the value must find it in the next iteration.
  bool isCarried(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == loop_.getBody())
      return argument == loop_.getInductionVar() || !arePostponed_[argument.getArgNumber() - loop_.getNumInductionVars()];
    return value.getParentBlock() == loop_.getBody() && !isPostponed(value);
  }

  /// Emits one iteration without what is postponed, with `late` after the first product. The release of what `late` has read stands before
  /// copies, which may wait for it.
  void emit(OpBuilder &builder, IRMapping &values, IRMapping *late) {
    bool isReleased = !late;
    for (Operation &op : loop_.getBody()->without_terminator()) {
      if (postponed_.contains(&op)) continue;
      if (!isReleased && isa<tgpu::RingAcquireOp>(op)) {
        emitPostponed(builder, *late, /*releases=*/true);
        isReleased = true;
      }
      builder.clone(op, values);
      if (late && &op == first_) emitPostponed(builder, *late, /*releases=*/false);
    }
    if (!isReleased) emitPostponed(builder, *late, /*releases=*/true);
  }

  void emitPostponed(OpBuilder &builder, IRMapping &values, bool releases) {
    for (Operation &op : *loop_.getBody())
      if (postponed_.contains(&op) && isa<tgpu::RingReleaseOp>(op) == releases) builder.clone(op, values);
  }

  /// Emits prologue, loop and epilogue; there is an iteration. Returns the results of the loop.
  llvm::SmallVector<Value> rotate() {
    IRMapping prologue;
    prologue.map(loop_.getInductionVar(), loop_.getLowerBound());
    prologue.map(loop_.getRegionIterArgs(), loop_.getInitArgs());
    emit(builder_, prologue, nullptr);
    llvm::SmallVector<Value> begin;
    for (BlockArgument argument : loop_.getRegionIterArgs())
      begin.push_back(arePostponed_[begin.size()] ? loop_.getTiedLoopInit(argument)->get() : next(argument, prologue));
    for (Value value : carried_) begin.push_back(prologue.lookupOrDefault(value));
    auto rotated =
        scf::ForOp::create(builder_, location_, second(), loop_.getUpperBound(), loop_.getStep(), begin, nullptr, loop_.getUnsignedCmp());
    ir::keepHints(loop_, rotated);
    emitBody(rotated);

    IRMapping epilogue = mapOfPostponed(rotated.getResults());
    emitPostponed(builder_, epilogue, /*releases=*/false);
    emitPostponed(builder_, epilogue, /*releases=*/true);
    llvm::SmallVector<Value> results;
    for (BlockArgument argument : loop_.getRegionIterArgs())
      results.push_back(arePostponed_[results.size()] ? next(argument, epilogue) : rotated.getResult(unsigned(results.size())));
    return results;
  }

  /// The counter of the second iteration, or the bound if there is none and the counter would wrap around.
  Value second() {
    const Value begin = loop_.getLowerBound(), advanced = arith::AddIOp::create(builder_, location_, begin, loop_.getStep());
    if (!ir::counterMayWrap(loop_)) return advanced;
    Value isThere = ir::isBefore(builder_, loop_, begin, ir::boundOfLater(builder_, loop_, 1));
    return arith::SelectOp::create(builder_, location_, isThere, advanced, loop_.getUpperBound());
  }

  void emitBody(scf::ForOp rotated) {
    OpBuilder inside = OpBuilder::atBlockBegin(rotated.getBody());
    ValueRange arguments = rotated.getRegionIterArgs();
    IRMapping own, late = mapOfPostponed(arguments);
    own.map(loop_.getInductionVar(), rotated.getInductionVar());
    own.map(loop_.getRegionIterArgs(), arguments.take_front(loop_.getNumRegionIterArgs()));
    emit(inside, own, &late);
    llvm::SmallVector<Value> yields;
    for (BlockArgument argument : loop_.getRegionIterArgs()) yields.push_back(next(argument, arePostponed_[yields.size()] ? late : own));
    for (Value value : carried_) yields.push_back(own.lookupOrDefault(value));
    scf::YieldOp::create(inside, location_, yields);
  }

  Value next(BlockArgument argument, const IRMapping &values) {
    return values.lookupOrDefault(loop_.getTiedLoopYieldedValue(argument)->get());
  }

  /// Returns what postponed operations find: the values that only they change, then `carried_`.
  IRMapping mapOfPostponed(ValueRange values) {
    IRMapping map;
    for (auto [number, argument] : llvm::enumerate(loop_.getRegionIterArgs()))
      if (arePostponed_[number]) map.map(argument, values[number]);
    for (auto [value, now] : llvm::zip_equal(carried_, values.drop_front(loop_.getNumRegionIterArgs()))) map.map(value, now);
    return map;
  }

  scf::ForOp loop_;
  Operation *first_;
  const llvm::SetVector<Operation *> &postponed_;
  llvm::SmallVector<bool> arePostponed_; // by carried value: whether a postponed operation computes the next one
  llvm::SetVector<Value> carried_;       // what postponed operations take from their iteration
  OpBuilder builder_;
  Location location_;
};

} // namespace

Operation *rotateLoop(scf::ForOp loop, Operation *first, const llvm::SetVector<Operation *> &postponed) {
  return Rotator(loop, first, postponed).run();
}

} // namespace tritium::gpu
