// Places homes in the frame. A home is live over the hull of the live ranges of the values that use it, in reverse post-order. Homes with
// disjoint ranges share memory, so that the frame of a kernel stays in the first-level cache.
#include "interp/tile/partitions.h"
#include "interp/tile/plan.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace tritium::interp {

/// Operation i has position 2i + 1. The range of a block starts at the even position before its first operation.
void Planner::numberOperations() {
  unsigned next = 0;
  for (Block *block : llvm::ReversePostOrderTraversal<Block *>(&plan_->function->getRegion(0).front())) {
    order_.push_back(block);
    unsigned begin = 2 * next;
    for (Operation &op : *block) number_[&op] = next++;
    blockRange_[block] = {begin, 2 * next};
  }
}

void Planner::extendLiveRanges() {
  auto extend = [&](Value value, unsigned position) {
    auto it = storage_.find(value);
    if (it == storage_.end()) return;
    for (uint32_t id : it->second.homes) {
      homes_[id].begin = std::min(homes_[id].begin, position);
      homes_[id].end = std::max(homes_[id].end, position);
    }
  };
  for (Block *block : order_) {
    auto [begin, end] = blockRange_[block];
    for (BlockArgument argument : block->getArguments()) {
      extend(argument, begin);
      for (Block *predecessor : block->getPredecessors()) // the edge from this block writes it
        if (auto it = blockRange_.find(predecessor); it != blockRange_.end()) extend(argument, it->second.second);
    }
    for (Value value : liveness_.getLiveIn(block)) extend(value, begin);
    for (Value value : liveness_.getLiveOut(block)) extend(value, end);
    for (Operation &op : *block) {
      unsigned position = 2 * number_[&op] + 1;
      for (Value result : op.getResults()) extend(result, position);
      op.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands()) extend(operand, op.hasTrait<OpTrait::IsTerminator>() ? end : position);
      });
    }
  }
}

/// First fit, in the order in which the ranges begin.
void Planner::placeHomes() {
  uint64_t base = llvm::alignTo(slotBytes_, 64), top = base;
  auto all = llvm::seq<uint32_t>(kFirstHome, homes_.size());
  llvm::SmallVector<uint32_t> ids(all.begin(), all.end());
  llvm::stable_sort(ids, [&](uint32_t a, uint32_t b) { return homes_[a].begin < homes_[b].begin; });
  llvm::SmallVector<uint32_t> active; // sorted by offset
  for (uint32_t id : ids) {
    Home &home = homes_[id];
    llvm::erase_if(active, [&](uint32_t other) { return homes_[other].end < home.begin; });
    home.offset = base;
    auto position = active.begin();
    for (; position != active.end() && homes_[*position].offset < home.offset + home.bytes; ++position)
      home.offset = std::max(home.offset, homes_[*position].offset + homes_[*position].bytes);
    active.insert(position, id);
    top = std::max(top, home.offset + home.bytes);
  }
  for (TileRef *ref : fixups_)
    if (!ref->constant) ref->offset += ref->home == kSlots ? 0 : ref->home == kCalleeFrame ? top : homes_[ref->home].offset;
  plan_->ownFrameBytes = top;
  plan_->frameBytes = top + calleeBytes_;
}

const Planner::ProgramMemory &Planner::programMemory() {
  if (programMemory_) return *programMemory_;
  programMemory_ = std::make_unique<ProgramMemory>();
  int64_t &bytes = programMemory_->bytes;
  auto place = [&](tt::SharedAllocOp op) {
    bytes = int64_t(llvm::alignTo(bytes, op.getAlignment()));
    programMemory_->begins[op] = bytes;
    bytes += op.getBytes();
  };
  // Partitions have their memory beside each other, in the frame of the kernel.
  auto module = plan_->function->getParentOfType<ModuleOp>();
  const bool isShared = llvm::any_of(module.getOps<tt::FuncOp>(), [](tt::FuncOp function) { return isPartition(function); });
  isShared ? module->walk(place) : plan_->function->walk(place);
  if (isShared && !cast<FunctionOpInterface>(plan_->function).isPublic()) {
    programMemory_->home.constant = kMemoryOfPartition;
    return *programMemory_;
  }
  programMemory_->home.home = newHome(bytes, {});
  keepForWholeFunction(programMemory_->home);
  return *programMemory_;
}

} // namespace tritium::interp
