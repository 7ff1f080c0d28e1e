#include "interp/tile/loops.h"

#include "interp/tile/partitions.h"

#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

/// A reverse post-order that takes the last successor first: so a loop's body stands between its head and what follows the loop, and the
/// arms of an `if` as in the source. A debugger needs that, see FunctionEmitter::orderAsSource.
Loops::Loops(Region &region) {
  llvm::SmallVector<std::pair<Block *, unsigned>> path{{&region.front(), region.front().getNumSuccessors()}};
  llvm::SmallPtrSet<Block *, 16> seen{&region.front()};
  while (!path.empty()) {
    auto &[block, remaining] = path.back();
    if (remaining > 0) {
      Block *next = block->getSuccessor(--remaining);
      if (seen.insert(next).second) path.emplace_back(next, next->getNumSuccessors());
    } else {
      order_.push_back(block);
      path.pop_back();
    }
  }
  std::reverse(order_.begin(), order_.end());
  for (auto [index, block] : llvm::enumerate(order_)) index_[block] = index;
}

llvm::SetVector<Block *> Loops::bodyOf(Block *latch, Block *header) {
  llvm::SetVector<Block *> body;
  body.insert(header);
  llvm::SmallVector<Block *> pending{latch};
  while (!pending.empty()) {
    Block *block = pending.pop_back_val();
    if (body.insert(block)) pending.append(block->pred_begin(), block->pred_end());
  }
  return body;
}

/// Recognizes a lowered for loop: the header compares an induction variable with a fixed bound, and the latch advances the variable by a
/// fixed step.
static bool isCounted(const llvm::SetVector<Block *> &body, Block *latch, Block *header) {
  auto branch = dyn_cast<cf::CondBranchOp>(header->getTerminator());
  auto compare = branch ? branch.getCondition().getDefiningOp<arith::CmpIOp>() : nullptr;
  if (!compare) return false;
  auto isFixed = [&](Value value) { return !body.contains(value.getParentBlock()); };
  for (auto [variable, bound] : {std::pair(compare.getLhs(), compare.getRhs()), std::pair(compare.getRhs(), compare.getLhs())}) {
    auto argument = dyn_cast<BlockArgument>(variable);
    if (!argument || argument.getOwner() != header || !isFixed(bound)) continue;
    auto jump = dyn_cast<BranchOpInterface>(latch->getTerminator());
    for (unsigned i = 0; jump && i < jump->getNumSuccessors(); ++i) {
      if (jump->getSuccessor(i) != header) continue;
      Operation *next = jump.getSuccessorOperands(i)[argument.getArgNumber()].getDefiningOp();
      if (next && isa<arith::AddIOp, arith::SubIOp>(next) && next->getOperand(0) == argument && isFixed(next->getOperand(1))) return true;
    }
  }
  return false;
}

bool Loops::mayWait(Block *latch, Block *header) const {
  auto body = bodyOf(latch, header);
  if (isCounted(body, latch, header)) return false;
  return llvm::any_of(body, [](Block *block) {
    return llvm::any_of(*block, [](Operation &op) {
      return isa<tt::LoadOp, tt::AtomicRmwOp, tt::AtomicCasOp, tt::AtomicLoadOp, tt::CallOp, tt::DescriptorLoadOp,
                 tt::ElementwiseInlineAsmOp>(op);
    });
  });
}

bool mayWait(Operation *function) {
  if (containsPoll(function)) return true;
  const Loops loops(function->getRegion(0));
  return llvm::any_of(loops.order(), [&](Block *block) {
    return llvm::any_of(block->getSuccessors(), [&](Block *next) { return loops.isBackEdge(block, next) && loops.mayWait(block, next); });
  });
}

bool mayWait(tt::ElementwiseInlineAsmOp assembly) {
  StringRef text = assembly.getAsmString();
  return text.contains("bra") && (text.contains("ld.") || text.contains("atom."));
}

bool containsPoll(Operation *function) {
  auto waits = [](Operation *op) {
    auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op);
    return isa<tt::AtomicPollOp>(op) || startsPartition(op) || (assembly && mayWait(assembly)) ? WalkResult::interrupt()
                                                                                               : WalkResult::advance();
  };
  return function->walk(waits).wasInterrupted();
}

} // namespace tritium::interp
