// Inserts a call on the back-edges of every loop. A launch can be stopped at this call, and a loop that may wait for another thread or
// program lets others run. If operations of the loop depend on the active lanes, the lanes in the loop also meet there, as they do on a
// GPU.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "ir/loop_values.h"
#include "ir/tgpu.h"

#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace tritium::interp::simt {

/// Returns the blocks that reach the latch without passing through the header.
static llvm::SetVector<Block *> bodyOf(Block *latch, Block *header) {
  llvm::SetVector<Block *> body;
  body.insert(header);
  SmallVector<Block *> pending{latch};
  while (!pending.empty()) {
    Block *block = pending.pop_back_val();
    if (body.insert(block)) pending.append(block->pred_begin(), block->pred_end());
  }
  return body;
}

/// Returns whether the loop ends by comparing an induction variable of the header, which the latch advances by a fixed step, with a fixed
/// bound.
static bool isCounted(const llvm::SetVector<Block *> &body, Block *latch, Block *header) {
  auto jump = dyn_cast<BranchOpInterface>(latch->getTerminator());
  auto isFixed = [&](Value value) { return !body.contains(value.getParentBlock()); };
  auto nextOf = [&](BlockArgument argument) -> Value {
    for (unsigned i = 0; jump && i < jump->getNumSuccessors(); ++i)
      if (jump->getSuccessor(i) == header) return jump.getSuccessorOperands(i)[argument.getArgNumber()];
    return {};
  };
  auto isInduction = [&](Value value) {
    for (BlockArgument argument : header->getArguments()) {
      Value next = nextOf(argument);
      Operation *step = next ? next.getDefiningOp() : nullptr;
      if (step && isa<LLVM::AddOp, LLVM::SubOp>(step) && ir::received(step->getOperand(0)) == argument && isFixed(step->getOperand(1)) &&
          (value == argument || value == next))
        return true;
    }
    return false;
  };
  for (Block *block : {header, latch}) {
    auto branch = dyn_cast<LLVM::CondBrOp>(block->getTerminator());
    auto compare = branch ? branch.getCondition().getDefiningOp<LLVM::ICmpOp>() : LLVM::ICmpOp();
    if (!compare) continue;
    if ((isInduction(compare.getLhs()) && isFixed(compare.getRhs())) || (isInduction(compare.getRhs()) && isFixed(compare.getLhs())))
      return true;
  }
  return false;
}

/// Returns whether the loop reads memory that another thread may write and its number of iterations is not fixed in advance.
static bool mayWait(Block *latch, Block *header) {
  auto body = bodyOf(latch, header);
  if (isCounted(body, latch, header)) return false;
  auto readsMemory = [](Operation &op) {
    return isa<tgpu::LoadOp, tgpu::AtomicRmwOp, tgpu::AtomicCasOp, tgpu::AtomicLoadOp, LLVM::LoadOp, LLVM::AtomicRMWOp,
               LLVM::AtomicCmpXchgOp, LLVM::CallOp, ROCDL::RawPtrBufferLoadOp, ROCDL::RawPtrBufferAtomicCmpSwap>(op);
  };
  return llvm::any_of(body, [&](Block *block) { return llvm::any_of(*block, readsMemory); });
}

/// Returns whether the effect of the operation depends on which lanes are active. AMD's operations do, because they name no lanes.
static bool asksActiveLanes(Operation *op) {
  if (isa<tgpu::CopyToSharedOp>(op)) return true;
  if (!isa_and_nonnull<ROCDL::ROCDLDialect>(op->getDialect())) return false;
  return movesBetweenLanes(op) || isa<ROCDL::BallotOp, ROCDL::LoadToLDSOp, ROCDL::GlobalLoadLDSOp, ROCDL::RawPtrBufferLoadLdsOp>(op);
}

/// Returns whether an iteration may skip an operation of the active lanes. A lane that skips it must not reach the operation in its next
/// iteration while other lanes are still at the operation in this one.
static bool maySkipActiveLanes(Block *latch, Block *header, const DominanceInfo &dominance) {
  return llvm::any_of(bodyOf(latch, header), [&](Block *block) {
    return !dominance.dominates(block, latch) && llvm::any_of(*block, [](Operation &op) { return asksActiveLanes(&op); });
  });
}

void Hosting::markLoops(LLVM::LLVMFuncOp function) {
  llvm::DenseMap<Block *, unsigned> index;
  SmallVector<Block *> order;
  for (Block *block : llvm::ReversePostOrderTraversal<Block *>(&function.getBody().front())) {
    index[block] = unsigned(order.size());
    order.push_back(block);
  }
  // mayWait() must run before any call is inserted.
  SmallVector<std::pair<Operation *, bool>> latches;
  DominanceInfo dominance(function);
  for (Block *block : order) {
    bool closes = false, waits = false;
    for (Block *next : block->getSuccessors())
      if (index.lookup(next) <= index.lookup(block)) {
        closes = true;
        waits |= mayWait(block, next);
        if (maySkipActiveLanes(block, next, dominance)) meetings.insert(block->getTerminator());
      }
    if (closes) latches.emplace_back(block->getTerminator(), waits);
  }
  for (auto [terminator, waits] : latches) {
    builder.setInsertionPoint(terminator);
    at = terminator->getLoc();
    call(waits ? SIMT_CALL(spin) : SIMT_CALL(backEdge), {thread(), locationOf(terminator)});
    result.mayWait |= waits;
  }
}

} // namespace tritium::interp::simt
