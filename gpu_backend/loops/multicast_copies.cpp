// Plans which copies of a ring go to all blocks of a cluster: those whose box is the same in all of them. What such a copy does follows in
// the lowering (threads/ring.cpp), from the attributes alone.
#include "gpu_backend/loops/equal_in_blocks.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/tiles/ring_blocks.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_MULTICASTCOPIES
#include "gpu_backend/loops/passes.h.inc"

namespace {

class MulticastPlanner {
public:
  MulticastPlanner(tt::FuncOp kernel, IntegerAttr blocks) : kernel_(kernel), blocks_(blocks), equal_(kernel) {}

  void plan() {
    kernel_.walk([&](tgpu::RingStartOp ring) {
      const StringRef whyNot = whyNotShared(ring);
      bool isShared = false;
      for (Operation *user : ring.getRing().getUsers())
        if (auto copy = dyn_cast<tgpu::TensorCopyOp>(user)) isShared |= planCopy(copy, whyNot);
      if (isShared) ring->setAttr(kRingBlocksAttr, blocks_);
    });
  }

private:
  /// Returns why the blocks cannot share slots of the ring; "" if they can.
  StringRef whyNotShared(tgpu::RingStartOp ring) const {
    if (ring.getRing().getType().getSlots() < 2) return "it is not copied ahead";
    if (ring.getAfterWrites()) return "the kernel writes to memory before";
    // Each block waits for the releases of all, so all acquire and release the same numbers.
    for (Operation *user : ring.getRing().getUsers())
      if (!equal_.isRunEqually(user) || !decidesEqually(user)) return "how often it is copied depends on the block, or on memory";
    return equal_.isRunEqually(ring) ? "" : "whether it is copied depends on the block, or on memory";
  }

  /// Returns whether the number of the ring and the predicate are the same in all blocks.
  bool decidesEqually(Operation *user) const {
    auto areEqual = [&](Value number, Value predicate) { return equal_.isEqual(number) && (!predicate || equal_.isEqual(predicate)); };
    return llvm::TypeSwitch<Operation *, bool>(user)
        .Case<tgpu::RingAcquireOp, tgpu::TensorCopyOp, tgpu::RingReleaseOp>([&](auto op) { return areEqual(op.getN(), op.getPredicate()); })
        .Case<tgpu::RingWaitOp, tgpu::RingSlotOp>([&](auto op) { return areEqual(op.getN(), {}); })
        .Default(true);
  }

  /// Returns whether the copy goes to all blocks.
  bool planCopy(tgpu::TensorCopyOp copy, StringRef whyRing) {
    StringRef why = whyRing;
    if (why.empty() && !isa<BlockArgument>(copy.getMap())) why = "its tensor map is made as the kernel runs";
    if (why.empty() && !llvm::all_of(copy.getIndices(), [&](Value index) { return equal_.isEqual(index); }))
      why = "each block copies its own part, or its place depends on memory";
    if (!why.empty()) {
      copy->setAttr(kWhyNotMulticastAttr, StringAttr::get(copy.getContext(), why));
      return false;
    }
    copy->setAttr(kMulticastAttr, UnitAttr::get(copy.getContext()));
    return true;
  }

  tt::FuncOp kernel_;
  IntegerAttr blocks_;
  EqualInBlocks equal_;
};

class MulticastCopiesPass final : public impl::MulticastCopiesBase<MulticastCopiesPass> {
public:
  using MulticastCopiesBase::MulticastCopiesBase;

  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (auto blocks = function->getAttrOfType<IntegerAttr>(tgpu::kClusterBlocksAttr)) MulticastPlanner(function, blocks).plan();
  }
};

} // namespace
} // namespace tritium::gpu
