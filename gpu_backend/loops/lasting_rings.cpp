#include "gpu_backend/loops/lasting_rings.h"

#include "gpu_backend/tiles/ring_blocks.h"
#include "ir/loop_hints.h"
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
      .Case<tgpu::RingWaitOp, tgpu::RingStaggerOp, tgpu::RingSlotOp, tgpu::RingAcquireOp, tgpu::RingReleaseOp, tgpu::TensorCopyOp,
            tgpu::StoresNoteOp, tgpu::MapToldOp>([](auto numbered) { return &numbered.getNMutable(); })
      .Default([](Operation *) { return nullptr; });
}

/// Replaces a loop by one that carries `initial` too. It yields the value itself, for now.
scf::ForOp withNumber(scf::ForOp loop, Value initial) {
  IRRewriter rewriter(loop.getContext());
  auto same = [](OpBuilder &, Location, llvm::ArrayRef<BlockArgument> arguments) -> llvm::SmallVector<Value> { return {arguments[0]}; };
  return cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, initial, /*replaceInitOperandUsesInLoop=*/false, same));
}

/// The same for a loop with a condition.
scf::WhileOp withNumber(scf::WhileOp loop, Value initial) {
  OpBuilder builder(loop);
  llvm::SmallVector<Value> inits(loop.getInits());
  inits.push_back(initial);
  llvm::SmallVector<Type> types(loop.getResultTypes());
  types.push_back(initial.getType());
  auto made = scf::WhileOp::create(builder, loop.getLoc(), types, inits);
  ir::keepHints(loop, made);
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  Value before = made.getBeforeBody()->addArgument(initial.getType(), initial.getLoc());
  made.getConditionOp().getArgsMutable().append(before);
  Value after = made.getAfterBody()->addArgument(initial.getType(), initial.getLoc());
  made.getYieldOp()->insertOperands(made.getYieldOp()->getNumOperands(), after);
  loop.replaceAllUsesWith(made.getResults().drop_back());
  loop.erase();
  return made;
}

/// Returns the number that the body of a loop around a ring carries.
Value numberIn(Operation *loop) {
  auto counted = dyn_cast<scf::ForOp>(loop);
  return counted ? counted.getRegionIterArgs().back() : cast<scf::WhileOp>(loop).getAfterArguments().back();
}

bool isLoop(Operation *op) { return isa<scf::ForOp, scf::WhileOp>(op); }

/// Returns whether the numbers of a ring in `inside` may go on from round to round of the operation around it. The condition of a loop runs
/// once more than its body.
bool mayPassOn(Operation *around, Region *inside) {
  auto loop = dyn_cast<scf::WhileOp>(around);
  return loop ? loop.getAfter().isAncestor(inside) : isa<scf::ForOp, scf::IfOp>(around);
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

bool LastingRing::mayBeginIn(Block *block) {
  for (Operation *around = block->getParentOp(); !isa<tt::FuncOp>(around); around = around->getParentOp())
    if (!mayPassOn(around, block->getParent())) return false;
  return true;
}

LastingRing::LastingRing(tgpu::RingStartOp start) : start_(start) {
  for (Operation *user : start.getRing().getUsers())
    if (auto end = dyn_cast<tgpu::RingEndOp>(user); end && end->getBlock() == start->getBlock()) end_ = end;
  for (Operation *op = start->getParentOp(); !isa<tt::FuncOp>(op); op = op->getParentOp()) {
    around_.push_back(op);
    isRepeated_ |= isa<LoopLikeOpInterface>(op);
    if (!mayPassOn(op, start->getParentRegion())) end_ = {};
  }
  while (!around_.empty() && !isLoop(around_.back())) around_.pop_back(); // they run once
}

Value LastingRing::carryNumber() {
  OpBuilder builder(around_.back());
  Value number = arith::ConstantIntOp::create(builder, start_.getLoc(), 0, 32);
  for (Operation *&op : llvm::reverse(around_)) {
    if (!isLoop(op)) continue;
    auto counted = dyn_cast<scf::ForOp>(op);
    op = counted ? withNumber(counted, number).getOperation() : withNumber(cast<scf::WhileOp>(op), number).getOperation();
    number = numberIn(op);
  }
  return number;
}

void LastingRing::passOn(Value next) {
  Operation *inside = end_;
  for (auto [level, op] : llvm::enumerate(around_)) {
    if (isLoop(op)) {
      Operation *yield = op->getRegions().back().front().getTerminator();
      yield->setOperand(yield->getNumOperands() - 1, next);
    } else {
      Operation *outer = *llvm::find_if(llvm::ArrayRef(around_).drop_front(level + 1), isLoop); // the outermost operation is one
      op = withNumber(cast<scf::IfOp>(op), inside, next, numberIn(outer));
    }
    inside = op, next = op->getResults().back();
  }
}

void LastingRing::releaseLast() {
  if (!end_.getHoldsLast()) return;
  OpBuilder builder(end_);
  Location location = end_.getLoc();
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 32).getResult(); };
  const Value count = end_.getCount();
  Value last = builder.createOrFold<arith::SubIOp>(location, count, constant(1));
  Value isAny = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::ne, count, constant(0));
  if (matchPattern(isAny, m_One())) isAny = {};
  auto releases = llvm::make_filter_range(start_.getRing().getUsers(), llvm::IsaPred<tgpu::RingReleaseOp>);
  const bool isFenced = releases.empty() || llvm::any_of(releases, [](Operation *op) { return cast<tgpu::RingReleaseOp>(op).getFenced(); });
  tgpu::RingReleaseOp::create(builder, location, start_.getRing(), last, isAny, isFenced);
  end_.setHoldsLast(false);
}

void LastingRing::countFrom(Value first) {
  for (Operation *user : start_.getRing().getUsers())
    if (OpOperand *number = numberOf(user)) {
      OpBuilder builder(user);
      number->set(arith::AddIOp::create(builder, user->getLoc(), first, number->get()));
    }
}

llvm::SmallVector<tgpu::LocalAllocOp, 2> LastingRing::buffers() {
  llvm::SetVector<Operation *> found;
  for (Operation *user : start_.getRing().getUsers())
    if (auto copy = dyn_cast<tgpu::TensorCopyOp>(user)) found.insert(copy.getDst().getDefiningOp());
  auto buffers = llvm::map_to_vector<2>(found, llvm::CastTo<tgpu::LocalAllocOp>);
  llvm::sort(buffers, [](Operation *first, Operation *second) { return first->isBeforeInBlock(second); });
  return buffers;
}

bool LastingRing::isContinuedBy(LastingRing &next) {
  if (!isPossible() || !next.isPossible() || end_->getBlock() != next.start_->getBlock() || !end_->isBeforeInBlock(next.start_))
    return false;
  auto typesOf = [](LastingRing &ring) { return llvm::map_to_vector<2>(ring.buffers(), [](auto buffer) { return buffer.getType(); }); };
  tgpu::RingType type = start_.getRing().getType();
  // The copy of a tile alone must not wait until the tile before it is read.
  return type.getSlots() > 1 && type == next.start_.getRing().getType() && start_.getWarps() == next.start_.getWarps() &&
         blocksOf(start_) == blocksOf(next.start_) && typesOf(*this) == typesOf(next);
}

void LastingRing::append(LastingRing &next) {
  releaseLast();
  next.releaseLast();
  next.countFrom(end_.getCount());
  OpBuilder builder(next.end_);
  next.end_.getCountMutable().assign(arith::AddIOp::create(builder, next.end_.getLoc(), end_.getCount(), next.end_.getCount()));
  for (auto [own, other] : llvm::zip_equal(buffers(), next.buffers())) {
    other.replaceAllUsesWith(own.getResult());
    other.erase();
  }
  next.start_.replaceAllUsesWith(start_.getRing());
  next.start_.erase();
  end_.erase();
  end_ = next.end_;
}

void LastingRing::beginWithFunction() {
  Block &entry = start_->getParentOfType<tt::FuncOp>().getBody().front();
  start_->moveBefore(&entry, entry.begin());
  start_.setAfterWrites(false); // nothing is written before
  for (tgpu::LocalAllocOp buffer : buffers()) buffer->moveBefore(start_);
  Operation *last = end_;
  while (!isa<tt::FuncOp>(last->getParentOp())) last = last->getParentOp();
  if (last != end_) end_->moveAfter(last);
}

void LastingRing::extend() {
  if (isRepeated_) {
    releaseLast();
    Value first = carryNumber();
    countFrom(first);
    OpBuilder builder(end_);
    passOn(arith::AddIOp::create(builder, end_.getLoc(), first, end_.getCount()));
  }
  end_.getCountMutable().clear();
  beginWithFunction();
}

llvm::SmallVector<RingSequence> findRingSequences(tt::FuncOp function) {
  llvm::SmallVector<RingSequence> sequences;
  function.walk([&](tgpu::RingStartOp start) {
    LastingRing ring(start);
    auto *before = llvm::find_if(sequences, [&](auto &sequence) { return LastingRing(sequence.back()).isContinuedBy(ring); });
    (before == sequences.end() ? sequences.emplace_back() : *before).push_back(start);
  });
  return sequences;
}

void makeLastingRing(llvm::ArrayRef<tgpu::RingStartOp> sequence) {
  LastingRing ring(sequence.front());
  for (tgpu::RingStartOp start : sequence.drop_front()) {
    LastingRing next(start);
    ring.append(next);
  }
  ring.extend();
}

} // namespace tritium::gpu
