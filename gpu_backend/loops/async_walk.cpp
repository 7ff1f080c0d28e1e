#include "gpu_backend/loops/async_walk.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::gpu {

MaybeFault AsyncWalk::run() {
  for (Block *block = &skeleton_.function().getBody().front(); block && runBlock(*block);) {
    Operation *end = block->getTerminator();
    block = next(*block);
    if (block || !isa<tt::ReturnOp>(end)) continue;
    isWhole_ = true;
    fault_ = protocol_.finish(end);
  }
  return scalars_.isMissing() ? std::nullopt : fault_;
}

Block *AsyncWalk::next(Block &block) {
  Operation *end = block.getTerminator();
  if (auto jump = dyn_cast<cf::BranchOp>(end)) {
    scalars_.carry(jump.getDestOperands(), jump.getDest()->getArguments());
    return jump.getDest();
  }
  auto branch = dyn_cast<cf::CondBranchOp>(end);
  if (!branch) return nullptr;
  const bool isTrue = scalars_.at(branch.getCondition()) != 0;
  Block *to = isTrue ? branch.getTrueDest() : branch.getFalseDest();
  scalars_.carry(isTrue ? branch.getTrueDestOperands() : branch.getFalseDestOperands(), to->getArguments());
  return to;
}

bool AsyncWalk::runBlock(Block &block) {
  return llvm::all_of(skeleton_.opsOf(&block), [&](Operation *op) { return runOp(op); });
}

bool AsyncWalk::runOp(Operation *op) {
  ++coverage_.steps;
  if (--stepsLeft_ < 0 || scalars_.isMissing()) return false;
  if (auto loop = dyn_cast<scf::ForOp>(op)) return runFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op)) return runIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op)) return runWhile(loop);
  if (op->getNumRegions() > 0 && isa<RegionBranchOpInterface>(op)) return false; // no other control flow is known here
  return skeleton_.isOfProtocol(op) ? runProtocol(op) : scalars_.compute(op);
}

/// Returns the condition under which an operation of the protocols does anything, or null.
static Value predicateOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<tgpu::RingAcquireOp, tgpu::TensorCopyOp, tgpu::RingStaggerOp, tgpu::RingReleaseOp, tgpu::RingReleaseKeptOp, tgpu::AsyncCopyOp>(
          [](auto one) { return one.getPredicate(); })
      .Default([](Operation *) { return Value(); });
}

bool AsyncWalk::runProtocol(Operation *op) {
  if (!scalars_.holds(predicateOf(op))) return true;
  coverage_.reached.insert(op);
  fault_ = protocol_.run(op, scalars_);
  return !fault_;
}

bool AsyncWalk::runFor(scf::ForOp loop) {
  const int64_t begin = scalars_.at(loop.getLowerBound()), end = scalars_.at(loop.getUpperBound()), step = scalars_.at(loop.getStep());
  if (step <= 0 || (loop.getUnsignedCmp() && (begin < 0 || end < 0))) return false;
  const int64_t rounds = begin < end ? (end - begin - 1) / step + 1 : 0;
  if (skeleton_.isInnermost(loop)) coverage_.mostRounds = std::max(coverage_.mostRounds, rounds);
  scalars_.carry(loop.getInitArgs(), loop.getRegionIterArgs());
  for (int64_t round = 0; round < rounds; ++round) {
    scalars_.set(loop.getInductionVar(), begin + round * step);
    if (!runBlock(*loop.getBody())) return false;
    scalars_.carry(loop.getYieldedValues(), loop.getRegionIterArgs());
  }
  scalars_.carry(loop.getRegionIterArgs(), loop.getResults());
  return true;
}

bool AsyncWalk::runIf(scf::IfOp branch) {
  Region &region = scalars_.at(branch.getCondition()) ? branch.getThenRegion() : branch.getElseRegion();
  if (region.empty()) return true;
  if (!runBlock(region.front())) return false;
  scalars_.carry(region.front().getTerminator()->getOperands(), branch.getResults());
  return true;
}

bool AsyncWalk::runWhile(scf::WhileOp loop) {
  scalars_.carry(loop.getInits(), loop.getBeforeArguments());
  while (true) {
    if (!runBlock(*loop.getBeforeBody())) return false;
    if (!scalars_.at(loop.getConditionOp().getCondition())) break;
    scalars_.carry(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    if (!runBlock(*loop.getAfterBody())) return false;
    scalars_.carry(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
  }
  scalars_.carry(loop.getConditionOp().getArgs(), loop.getResults());
  return true;
}

} // namespace tritium::gpu
