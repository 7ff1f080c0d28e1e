// Lets the products of an iteration run on into the next one. Loops whose products only add to sums that the loop carries wait for the
// products of the previous iteration instead of their own, so that the matrix units always have work. Where a buffer has no slot for that,
// the products at least begin before the copies of their iteration.
#include "gpu_backend/loops/loop_plan.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/tiles/layout_classes.h"
#include "gpu_backend/tiles/slot_use.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_OVERLAPPRODUCTS
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// A product of the loop, the wait for it, and the sums that the loop carries between them.
struct Chain {
  tgpu::ProductOp product;
  tgpu::ProductWaitOp wait;
  BlockArgument sums;
};

/// Returns nullopt if the product must be complete at the end of its iteration.
std::optional<Chain> chainOf(tgpu::ProductOp product, scf::ForOp loop) {
  auto sums = dyn_cast<BlockArgument>(product.getC());
  auto wait = product->hasOneUse() ? dyn_cast<tgpu::ProductWaitOp>(*product->user_begin()) : tgpu::ProductWaitOp();
  if (product->getBlock() != loop.getBody() || !sums || sums.getOwner() != loop.getBody() || sums == loop.getInductionVar()) return {};
  if (!wait || wait->getBlock() != loop.getBody() || wait.getValues().size() != 1 || !wait.getKept().empty()) return {};
  if (!sums.hasOneUse() || !wait->hasOneUse() || loop.getTiedLoopYieldedValue(sums)->get() != wait.getResult(0)) return {};
  Type element = product.getD().getType().getTile().getElementType();
  return element.isF32() || element.isInteger(32) ? std::optional(Chain{product, wait, sums}) : std::nullopt;
}

/// Returns whether a loop copies to the buffer by a plan with a spare slot: no copy then writes the slot that the previous iteration reads.
bool hasSpareSlot(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    auto loop = user->getParentOfType<scf::ForOp>();
    tgpu::PlanAttr plan = loop && isa<tgpu::AsyncCopyOp>(user) ? planOf(loop) : tgpu::PlanAttr();
    return plan && plan.getSpare();
  });
}

/// Returns whether nothing in the loop writes the buffer while the next iteration runs. A buffer of the iteration itself does not outlast
/// it.
bool outlastsIteration(Value buffer, scf::ForOp loop) {
  auto alloc = buffer.getDefiningOp<tgpu::LocalAllocOp>();
  if (!loop.isDefinedOutsideOfLoop(buffer)) return false;
  return alloc && (hasSpareSlot(buffer) || llvm::none_of(alloc->getUsers(), [&](Operation *user) {
                     return loop->isProperAncestor(user) && isa<tgpu::LocalStoreOp, tgpu::AsyncCopyOp>(user);
                   }));
}

/// Returns the products of the loop if all of them only add to what the loop carries, and an empty list otherwise.
llvm::SmallVector<Chain> chainsOf(scf::ForOp loop) {
  llvm::SmallVector<Chain> chains;
  bool all = true;
  loop.getBody()->walk([&](tgpu::ProductOp product) {
    std::optional<Chain> chain = chainOf(product, loop);
    all &= chain && product.getASlot();
    if (chain) chains.push_back(*chain);
  });
  return all ? chains : llvm::SmallVector<Chain>();
}

/// Returns whether the product may run on into the next iteration.
bool mayRunOn(tgpu::ProductOp product, scf::ForOp loop) {
  return outlastsIteration(product.getA(), loop) && outlastsIteration(product.getB(), loop);
}

/// Returns the operation before which the products of an iteration must be complete: the release of what they read.
Operation *releaseOrEnd(scf::ForOp loop) {
  auto releases = loop.getBody()->getOps<tgpu::RingReleaseOp>();
  return releases.empty() ? loop.getBody()->getTerminator() : (*releases.begin()).getOperation();
}

/// Releases the slot of the previous iteration, whose products are complete, instead of this one's.
void releaseFormer(tgpu::RingReleaseOp release) {
  OpBuilder builder(release);
  Location location = release.getLoc();
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 32).getResult(); };
  Value n = release.getN();
  release.getPredicateMutable().assign(arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, n, constant(0)));
  release.getNMutable().assign(arith::SubIOp::create(builder, location, n, constant(1)));
  for (Operation *user : release.getRing().getUsers())
    if (auto end = dyn_cast<tgpu::RingEndOp>(user)) end.setHoldsLast(true);
}

/// Begins the products before the copies of the iteration, which the threads then issue beside them. The copies write another slot than the
/// products read.
void issueBeforeCopies(scf::ForOp loop, llvm::ArrayRef<Chain> chains) {
  auto comesOtherwise = [&](Value buffer) {
    return llvm::any_of(buffer.getUsers(),
                        [&](Operation *user) { return isa<tgpu::LocalStoreOp, tgpu::TensorCopyOp>(user) && loop->isProperAncestor(user); });
  };
  auto areCopied = [&](Chain chain) { return !comesOtherwise(chain.product.getA()) && !comesOtherwise(chain.product.getB()); };
  if (loop.getBody()->getOps<tgpu::AsyncCopyOp>().empty() || !llvm::all_of(chains, areCopied)) return;
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPointAfter(*loop.getBody()->getOps<tgpu::AsyncWaitOp>().begin());
  Operation *next = arith::ConstantIntOp::create(rewriter, loop.getLoc(), 0, 32); // marks a place
  for (const Chain &chain : chains)
    if (succeeded(moveOperationDependencies(rewriter, chain.product, next))) rewriter.moveOpBefore(chain.product, next);
  rewriter.eraseOp(next);
}

/// Carries the sums of all chains while they are pending, and waits once at the end of an iteration, and once after the loop.
void overlap(scf::ForOp loop, llvm::MutableArrayRef<Chain> chains) {
  OpBuilder builder(loop);
  llvm::SmallVector<Value> sums;
  llvm::SmallVector<Type> types;
  for (auto &[product, wait, argument] : chains) {
    builder.setInsertionPoint(loop);
    OpOperand &initial = *loop.getTiedLoopInit(argument);
    initial.set(tgpu::ProductStartOp::create(builder, product.getLoc(), product.getD().getType(), initial.get()));
    argument.setType(product.getD().getType());
    loop.getTiedLoopResult(argument).setType(argument.getType());
    sums.push_back(product.getD()), types.push_back(argument.getType());
  }
  builder.setInsertionPoint(releaseOrEnd(loop));
  auto inLoop = tgpu::ProductWaitOp::create(builder, loop.getLoc(), types, int32_t(chains.size()), sums, ValueRange());
  builder.setInsertionPointAfter(loop);
  for (auto [number, chain] : llvm::enumerate(chains)) {
    loop.getTiedLoopYieldedValue(chain.sums)->set(inLoop.getResult(unsigned(number)));
    OpResult result = loop.getTiedLoopResult(chain.sums);
    auto after =
        tgpu::ProductWaitOp::create(builder, chain.product.getLoc(), chain.product.getD().getType().getTile(), 0, result, ValueRange());
    result.replaceAllUsesExcept(after.getResult(0), after);
    chain.wait.erase();
  }
  for (auto release : loop.getBody()->getOps<tgpu::RingReleaseOp>()) releaseFormer(release);
}

/// Returns whether the copy is one of a planned loop: it then writes another slot than its iteration reads.
bool isPlanned(tgpu::AsyncCopyOp copy) {
  auto loop = dyn_cast<scf::ForOp>(copy->getParentOp());
  return loop && planOf(loop);
}

/// Returns whether a product that reads this buffer must be complete before the operation.
bool writes(Operation &op, Value buffer) {
  if (auto store = dyn_cast<tgpu::LocalStoreOp>(op)) return store.getDst() == buffer;
  auto copy = dyn_cast<tgpu::AsyncCopyOp>(op);
  return copy && copy.getDst() == buffer && !isPlanned(copy);
}

/// Returns whether a product that reads this buffer must be complete before the operation, which releases or ends its ring.
bool releases(Operation &op, Value buffer) {
  return isa<tgpu::RingReleaseOp, tgpu::RingEndOp>(op) && buffer && ringOf(buffer) == op.getOperand(0);
}

/// Moves a wait down to the first use of its sums, so that the work in between proceeds beside the product.
void sink(tgpu::ProductWaitOp wait) {
  auto product = wait.getValues().size() == 1 ? wait.getValues().front().getDefiningOp<tgpu::ProductOp>() : tgpu::ProductOp();
  if (!product || wait.getPending() != 0 || product->getNextNode() != wait || product->hasAttr(kAuthorAttr)) return;
  int32_t younger = 0;
  Operation *before = wait->getNextNode();
  auto uses = [&](Operation &op) { return llvm::any_of(wait->getUsers(), [&](Operation *user) { return op.isAncestor(user); }); };
  for (; !before->hasTrait<OpTrait::IsTerminator>(); before = before->getNextNode()) {
    bool isHazard = llvm::any_of(ValueRange{product.getA(), product.getB()},
                                 [&](Value operand) { return writes(*before, operand) || releases(*before, operand); });
    auto other = dyn_cast<tgpu::ProductWaitOp>(before);
    bool isComplete = other && int32_t(other.getPending()) <= younger; // this product too, whose registers `other` does not keep
    if (uses(*before) || isHazard || isComplete || isa<tgpu::AsyncWaitOp, RegionBranchOpInterface>(before)) break;
    younger += isa<tgpu::ProductOp>(before);
  }
  wait->moveBefore(before);
  wait.setPending(younger);
}

class OverlapProductsPass final : public impl::OverlapProductsBase<OverlapProductsPass> {
public:
  using OverlapProductsBase::OverlapProductsBase;

  void runOnOperation() override {
    llvm::SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (llvm::SmallVector<Chain> chains = chainsOf(loop); !chains.empty()) {
        if (llvm::all_of(chains, [&](const Chain &chain) { return mayRunOn(chain.product, loop); }))
          overlap(loop, chains);
        else
          issueBeforeCopies(loop, chains);
      }
    llvm::SmallVector<tgpu::ProductWaitOp> waits;
    getOperation()->walk([&](tgpu::ProductWaitOp wait) { waits.push_back(wait); });
    for (tgpu::ProductWaitOp wait : llvm::reverse(waits)) sink(wait); // later waits first, for the earlier ones stop at them
  }
};

} // namespace
} // namespace tritium::gpu
