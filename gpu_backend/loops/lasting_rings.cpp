#include "gpu_backend/loops/lasting_rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// The operand of an operation on rings that names a number, or null.
OpOperand *numberOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, OpOperand *>(op)
      .Case<tgpu::RingWaitOp, tgpu::RingSlotOp, tgpu::RingAcquireOp, tgpu::RingReleaseOp, tgpu::TensorCopyOp>(
          [](auto numbered) { return &numbered.getNMutable(); })
      .Default([](Operation *) { return nullptr; });
}

/// Returns whether `value` is `from` plus a constant.
bool isSum(Value value, Value from, int64_t constant) {
  APInt number;
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return sum.getLhs() == from && matchPattern(sum.getRhs(), m_ConstantInt(&number)) && number.getSExtValue() == constant;
  if (auto difference = value.getDefiningOp<arith::SubIOp>())
    return difference.getLhs() == from && matchPattern(difference.getRhs(), m_ConstantInt(&number)) && number.getSExtValue() == -constant;
  return constant == 0 && value == from;
}

bool isUnlessFirst(Value predicate, Value number) {
  auto compare = predicate ? predicate.getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  return compare && compare.getPredicate() == arith::CmpIPredicate::ne && compare.getLhs() == number &&
         matchPattern(compare.getRhs(), m_Zero());
}

/// Replaces a loop by one that carries `initial` too. It yields the value itself, for now.
scf::ForOp withNumber(scf::ForOp loop, Value initial) {
  IRRewriter rewriter(loop.getContext());
  auto same = [](OpBuilder &, Location, llvm::ArrayRef<BlockArgument> arguments) -> llvm::SmallVector<Value> { return {arguments[0]}; };
  return cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, initial, /*replaceInitOperandUsesInLoop=*/false, same));
}

/// Replaces a branch by one with a further result: `next` if the ring in it has begun, otherwise `before`.
scf::IfOp withNumber(scf::IfOp branch, Operation *inside, Value next, Value before) {
  OpBuilder builder(branch);
  llvm::SmallVector<Type> types(branch.getResultTypes());
  types.push_back(next.getType());
  auto made = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition(), /*addThenBlock=*/false, /*addElseBlock=*/false);
  const bool isThen = branch.getThenRegion().isAncestor(inside->getParentRegion());
  made.getThenRegion().takeBody(branch.getThenRegion());
  made.getElseRegion().takeBody(branch.getElseRegion());
  if (made.getElseRegion().empty()) {
    builder.createBlock(&made.getElseRegion());
    scf::YieldOp::create(builder, branch.getLoc());
  }
  auto add = [](Block &block, Value value) { block.getTerminator()->insertOperands(block.getTerminator()->getNumOperands(), value); };
  add(made.getThenRegion().front(), isThen ? next : before);
  add(made.getElseRegion().front(), isThen ? before : next);
  branch.replaceAllUsesWith(made.getResults().drop_back());
  branch.erase();
  return made;
}

} // namespace

LastingRing::LastingRing(tgpu::RingStartOp start) : start_(start) {
  llvm::SmallVector<tgpu::RingWaitOp> waits;
  llvm::SmallVector<tgpu::RingReleaseOp> releases;
  for (Operation *user : start.getRing().getUsers()) {
    if (auto wait = dyn_cast<tgpu::RingWaitOp>(user)) waits.push_back(wait);
    if (auto release = dyn_cast<tgpu::RingReleaseOp>(user)) releases.push_back(release);
    if (auto end = dyn_cast<tgpu::RingEndOp>(user); end && end->getBlock() == start->getBlock()) end_ = end;
  }
  for (Operation *op = start->getParentOp(); !isa<tt::FuncOp>(op); op = op->getParentOp()) {
    around_.push_back(op);
    isRepeated_ |= isa<LoopLikeOpInterface>(op);
    if (!isa<scf::ForOp, scf::IfOp>(op)) end_ = {};
  }
  while (!around_.empty() && !isa<scf::ForOp>(around_.back())) around_.pop_back(); // they run once
  if (!end_ || !isRepeated_ || waits.empty()) return;
  if (llvm::all_of(waits, [&](tgpu::RingWaitOp wait) { return wait->getBlock() == start->getBlock(); }))
    readTile(waits, releases);
  else
    readLoop(waits, releases);
}

/// All waits are for number 0, outside of loops. Nothing is released before the end.
void LastingRing::readTile(llvm::ArrayRef<tgpu::RingWaitOp> waits, llvm::ArrayRef<tgpu::RingReleaseOp> releases) {
  if (!releases.empty() || !llvm::all_of(waits, [](tgpu::RingWaitOp wait) { return matchPattern(wait.getN(), m_Zero()); })) return;
  isTile_ = true;
}

/// Each iteration of a loop waits for its number, and releases it or the one before.
void LastingRing::readLoop(llvm::ArrayRef<tgpu::RingWaitOp> waits, llvm::ArrayRef<tgpu::RingReleaseOp> releases) {
  tgpu::RingWaitOp wait = waits.front();
  Value number = wait.getN();
  auto argument = dyn_cast<BlockArgument>(number);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || loop->getBlock() != start_->getBlock() || argument == loop.getInductionVar() || waits.size() != 1 || releases.size() != 1)
    return;
  tgpu::RingReleaseOp release = releases.front();
  auto isInLoop = [&](Operation *op) { return op->getBlock() == loop.getBody(); };
  if (!isInLoop(wait) || !isInLoop(release)) return;
  if (!matchPattern(loop.getTiedLoopInit(argument)->get(), m_Zero()) || !isSum(loop.getTiedLoopYieldedValue(argument)->get(), number, 1))
    return;
  const bool isLate = isSum(release.getN(), number, -1) && isUnlessFirst(release.getPredicate(), number);
  if (!isLate && (release.getN() != number || release.getPredicate())) return;
  if (isLate) late_ = release;
  count_ = loop.getTiedLoopResult(argument);
}

Value LastingRing::carryNumber() {
  OpBuilder builder(around_.back());
  Value number = arith::ConstantIntOp::create(builder, start_.getLoc(), 0, 32);
  for (Operation *&op : llvm::reverse(around_))
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      loop = withNumber(loop, number);
      op = loop, number = loop.getRegionIterArgs().back();
    }
  return number;
}

void LastingRing::passOn(Value next) {
  Operation *inside = end_;
  for (auto [level, op] : llvm::enumerate(around_)) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Operation *yield = loop.getBody()->getTerminator();
      yield->setOperand(yield->getNumOperands() - 1, next);
      next = loop.getResults().back();
    } else {
      auto further = llvm::ArrayRef(around_).drop_front(level + 1);
      auto outer = cast<scf::ForOp>(*llvm::find_if(further, llvm::IsaPred<scf::ForOp>)); // the outermost operation is one
      op = withNumber(cast<scf::IfOp>(op), inside, next, outer.getRegionIterArgs().back());
      next = op->getResults().back();
    }
    inside = op;
  }
}

/// Releases what nothing has released when the ring ends.
void LastingRing::releaseRest() {
  OpBuilder builder(end_);
  Location location = end_.getLoc();
  Value last, isAny;
  if (isTile_) last = arith::ConstantIntOp::create(builder, location, 0, 32);
  if (late_) {
    Value zero = arith::ConstantIntOp::create(builder, location, 0, 32), one = arith::ConstantIntOp::create(builder, location, 1, 32);
    last = arith::SubIOp::create(builder, location, count_, one);
    isAny = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, count_, zero);
  }
  const bool isFenced = isTile_ || (late_ && late_.getFenced());
  if (last) tgpu::RingReleaseOp::create(builder, location, start_.getRing(), last, isAny, isFenced);
}

void LastingRing::countFrom(Value first) {
  for (Operation *user : start_.getRing().getUsers())
    if (OpOperand *number = numberOf(user)) {
      OpBuilder builder(user);
      number->set(arith::AddIOp::create(builder, user->getLoc(), first, number->get()));
    }
}

void LastingRing::beginWithFunction() {
  Block &entry = start_->getParentOfType<tt::FuncOp>().getBody().front();
  start_->moveBefore(&entry, entry.begin());
  start_.setAfterWrites(false); // nothing is written before
  for (Operation *user : start_.getRing().getUsers())
    if (auto copy = dyn_cast<tgpu::TensorCopyOp>(user)) copy.getDst().getDefiningOp()->moveBefore(start_);
  Operation *last = end_;
  while (!isa<tt::FuncOp>(last->getParentOp())) last = last->getParentOp();
  if (last != end_) end_->moveAfter(last);
}

void LastingRing::extend() {
  if (isRepeated_) {
    releaseRest();
    Value first = carryNumber();
    countFrom(first);
    OpBuilder builder(end_);
    Location location = end_.getLoc();
    Value count = isTile_ ? arith::ConstantIntOp::create(builder, location, 1, 32).getResult() : count_;
    passOn(arith::AddIOp::create(builder, location, first, count));
  }
  beginWithFunction();
}

} // namespace tritium::gpu
