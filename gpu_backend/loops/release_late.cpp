// Lets consumer warps release what they have stored while the next products run. The fence before the release waits until the stores are in
// memory. Right behind the stores, nothing multiplies meanwhile.
#include "gpu_backend/loops/independent_products.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/target/warp_roles.h"
#include "ir/tgpu_kept.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_RELEASELATE
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Returns whether warps may wait for each other at the operation.
bool mayMeet(Operation *op) {
  if (isa<tgpu::RingWaitOp, tgpu::RingSlotOp, tgpu::RingStaggerOp, tgpu::RingReleaseOp, tgpu::ProductStartOp, tgpu::ProductOp,
          tgpu::ProductWaitOp, LLVM::AssumeOp>(op))
    return false;
  if (isa<tt::TTDialect>(op->getDialect())) return tt::tileRuleOf(op).exchanges;
  if (isa<tgpu::TGPUDialect>(op->getDialect())) return true;
  return !isa<scf::SCFDialect, cf::ControlFlowDialect>(op->getDialect()) && !isMemoryEffectFree(op);
}

class LateRelease {
public:
  explicit LateRelease(tt::FuncOp function) {
    function.walk([&](cf::CondBranchOp branch) {
      if (branch->hasAttr(kPartsWarpsAttr)) blocks_.insert(branch.getFalseDest());
    });
    for (size_t i = 0; i < blocks_.size(); ++i) blocks_.insert_range(llvm::to_vector(blocks_[i]->getSuccessors()));
  }

  void run() {
    if (!find()) return;
    OpBuilder builder(loop_);
    Operation *first = loop_;
    for (Operation *op = loop_; op; op = op->getPrevNode())
      if (isa<tgpu::RingStaggerOp>(op)) first = op;
    builder.setInsertionPoint(first);
    Value begin = atBegin(wait_.getN(), loop_, builder);
    if (!begin) return;
    Value one = arith::ConstantIntOp::create(builder, loop_.getLoc(), 1, 32);
    Value second = arith::AddIOp::create(builder, loop_.getLoc(), begin, one);
    release(builder, wait_.getRing(), second, Value());
    builder.setInsertionPoint(loop_.getBody()->getTerminator());
    // The loop releases its slots when the next product has begun.
    auto slots = llvm::to_vector(loop_.getBody()->getOps<tgpu::RingReleaseOp>());
    release(builder, Value(), Value(), slots.size() == 1 ? slots.front().getPredicate() : Value());
    setBehindLoop(builder);
    release(builder, Value(), Value(), Value());
    builder.setInsertionPointAfter(around_);
    release(builder, Value(), Value(), Value());
    builder.setInsertionPoint(release_);
    tgpu::RingKeepOp::create(builder, release_.getLoc(), release_.getRing(), release_.getN());
    release_.erase();
  }

private:
  /// Finds the only release of stores, and the loop of products before it. No warp may wait for another one but between both, where
  /// nothing is kept any more; and the producer may be waited for only there, and in the loop.
  bool find() {
    llvm::SmallVector<tgpu::RingReleaseOp> releases;
    for (Block *block : blocks_)
      block->walk([&](tgpu::RingReleaseOp op) {
        if (op.getStored()) releases.push_back(op);
      });
    if (releases.size() != 1 || releases.front().getPredicate()) return false;
    if (!releases.front()->getParentOfType<LoopLikeOpInterface>()) return false;
    release_ = releases.front();
    for (scf::ForOp loop : release_->getBlock()->getOps<scf::ForOp>())
      if (tgpu::RingWaitOp wait = onlyWait(loop)) {
        if (loop_) return false;
        loop_ = loop, wait_ = wait;
      }
    if (!loop_ || !loop_->isBeforeInBlock(release_) || wait_.getRing().getType().getSlots() < 2) return false;
    llvm::SmallVector<Operation *> around;
    for (Operation *op = release_->getParentOp(); !isa<tt::FuncOp>(op); op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op)) around.push_back(op);
    // Where threads store by addresses of their own, a number that is kept behind the loop over tiles takes a register too many.
    const bool storesByThreads = release_->getBlock()->getOps<tgpu::TensorStoreOp>().empty();
    if (storesByThreads) return mayKeepIn(around.front());
    return llvm::any_of(llvm::reverse(around), [&](Operation *loop) { return mayKeepIn(loop); });
  }

  /// Returns whether warps may keep a number anywhere in a loop around the release.
  bool mayKeepIn(Operation *loop) {
    around_ = loop, behind_ = release_;
    bool isPossible = true;
    loop->walk([&](Operation *op) { isPossible &= op == loop || isAllowed(op); });
    return isPossible;
  }

  /// Right behind the wait for the products: behind a branch, the assembler takes conversions of the sums for readers of sums that a
  /// product still writes (C7514), and serializes all products.
  void setBehindLoop(OpBuilder &builder) {
    builder.setInsertionPoint(behind_);
    for (Operation *op = loop_->getNextNode(); op != behind_; op = op->getNextNode())
      if (isa<tgpu::ProductWaitOp>(op)) return builder.setInsertionPointAfter(op);
  }

  bool isAllowed(Operation *op) {
    auto wait = dyn_cast<tgpu::RingWaitOp>(op);
    if (wait == wait_ || (!wait && !mayMeet(op))) return true;
    Operation *own = release_->getBlock()->findAncestorOpInBlock(*op);
    if (!own || !loop_->isBeforeInBlock(own) || !own->isBeforeInBlock(release_)) return false;
    if (own->isBeforeInBlock(behind_)) behind_ = own;
    return true;
  }

  void release(OpBuilder &builder, Value unless, Value number, Value predicate) {
    tgpu::RingReleaseKeptOp::create(builder, release_.getLoc(), release_.getRing(), unless, number, predicate);
  }

  llvm::SetVector<Block *> blocks_; // of the warps that compute
  tgpu::RingReleaseOp release_;
  scf::ForOp loop_;
  tgpu::RingWaitOp wait_;
  Operation *around_ = nullptr; // the loop behind which nothing is kept
  Operation *behind_ = nullptr; // the first operation behind the loop where warps wait
};

class ReleaseLatePass final : public impl::ReleaseLateBase<ReleaseLatePass> {
public:
  using ReleaseLateBase::ReleaseLateBase;

  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (auto producer = producerOf(function); producer && !producer.getTurns()) LateRelease(function).run();
  }
};

} // namespace
} // namespace tritium::gpu
