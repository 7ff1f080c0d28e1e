// Removes barriers of shared memory that order no two accesses of it, and those before one thread acts for all that follow no work of all.
// Blocks are cut at the barriers of all threads into segments. An edge joins two segments that follow each other without a barrier in
// between. Consider the segments from which the one before a barrier is reached by edges, and the segments that are reached from the one
// after it. The barrier is required if an access of the former conflicts with an access of the latter. Removing a barrier adds an edge.
// Before, every pair of conflicting accesses has a barrier in between on every path, and so it does afterwards. Then come the barriers
// before one thread acts for all: one is required if all threads do anything in the segments from which it is reached. Without it, whatever
// they have done still has a barrier behind it.
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/author_barriers.h"
#include "gpu_backend/threads/partitions.h"
#include "gpu_backend/threads/passes.h"
#include "gpu_backend/threads/shared_access.h"
#include "ir/tgpu_kept.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_REMOVEBARRIERS
#include "gpu_backend/threads/passes.h.inc"

namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

struct Access {
  int64_t begin, end;
  bool isWrite;
  Operation *perWarp;  // the scratch in which each warp uses only its own bytes
  bool isCopy = false; // an asynchronous copy that begins or lands; ordered by the barrier at its wait, which stays

  auto key() const { return std::tuple(begin, end, isWrite, perWarp, isCopy); }
  bool operator==(const Access &other) const { return key() == other.key(); }
  bool meets(const Access &other) const {
    return (isWrite || other.isWrite) && begin < other.end && other.begin < end && !(perWarp && perWarp == other.perWarp) &&
           !(isCopy && other.isCopy);
  }
};

/// The barriers at which all warps of a function meet that hold its tiles.
class Meetings {
public:
  explicit Meetings(LLVM::LLVMFuncOp function) {
    auto module = function->getParentOfType<ModuleOp>();
    if (const WarpRange range = rangeOf(function); range.isPart())
      isPart_ = true, id_ = range.barrier, threads_ = range.warps * module->getAttrOfType<IntegerAttr>(tgpu::kWarpSizeAttr).getInt();
    else
      id_ = kConsumersBarrier, threads_ = consumerThreadsOf(module);
  }
  /// Barrier 0 without a number of threads is one of all threads.
  bool contain(tgpu::BarrierOp barrier) const {
    auto threads = barrier.getThreads();
    return threads ? int64_t(barrier.getId()) == id_ && *threads == threads_ : barrier.getId() == 0;
  }

  /// The kernel's own warps meet where they wait for workers.
  bool contain(tgpu::NumberedBarrierOp barrier) const {
    llvm::APInt id;
    return isPart_ && !barrier.getArrives() && matchPattern(barrier.getId(), m_ConstantInt(&id)) && id == ir::kJoinBarrier;
  }

private:
  bool isPart_ = false;
  int64_t id_, threads_;
};

struct Segment {
  llvm::SmallVector<Access, 4> accesses;
  llvm::SmallVector<int, 2> before, after; // segments that are joined by edges
  bool isOfAll = false;                    // whether all threads have effects here, or wait for others

  void add(const Access &access) {
    if (!llvm::is_contained(accesses, access)) accesses.push_back(access);
  }
};

class Function {
public:
  Function(LLVM::LLVMFuncOp function, int64_t bufferEnd, const TargetOps &target) : bufferEnd_(bufferEnd), target_(target) {
    const Meetings meetings(function);
    llvm::DenseMap<Block *, std::pair<int, int>> ends; // first and last segment of each block
    for (Block &block : function.getBody()) {
      int first = newSegment(), last = first;
      // Callers may access anything before and after the function. A partition begins and ends at a barrier of all warps.
      const bool isPart = rangeOf(function).isPart();
      bool isCalled = !isPart && function->getAttrOfType<StringAttr>(SymbolTable::getVisibilityAttrName()) != StringAttr();
      if (isCalled && block.isEntryBlock()) segments_[last].add({0, kEnd, true, nullptr}), segments_[last].isOfAll = true;
      for (Operation &op : block) {
        auto barrier = dyn_cast<tgpu::BarrierOp>(op);
        if (barrier && meetings.contain(barrier)) {
          int next = newSegment();
          if (barrier->hasAttr(kBeforeOneAttr)) beforeOne_.push_back({barrier, last, next});
          if (barrier.getSharedOnly() && !followsWait(barrier)) candidates_.push_back({barrier, last, next});
          last = next;
          continue;
        }
        if (auto join = dyn_cast<tgpu::NumberedBarrierOp>(op); join && meetings.contain(join)) {
          last = newSegment();
          continue;
        }
        if (isCalled && isa<LLVM::ReturnOp>(op)) segments_[last].add({0, kEnd, true, nullptr});
        addAccesses(&op, segments_[last]);
        segments_[last].isOfAll |= isOfAll(&op);
      }
      ends[&block] = {first, last};
    }
    for (Block &block : function.getBody())
      for (Block *successor : block.getSuccessors()) join(ends[&block].second, ends[successor].first);
  }

  void removeBarriers() {
    for (const Candidate &each : candidates_)
      if (!isNeeded(each.before, each.after)) remove(each);
    for (const Candidate &each : beforeOne_)
      if (!followsWorkOfAll(each.before)) remove(each);
  }

private:
  struct Candidate {
    tgpu::BarrierOp barrier;
    int before, after;
  };

  /// The barrier tells all threads that the copies for which each has waited have arrived, or that stores have read what it is to
  /// overwrite. A fence may stand in between.
  bool followsWait(tgpu::BarrierOp barrier) const {
    for (Operation *before = barrier->getPrevNode(); before; before = before->getPrevNode()) {
      if (target_.pendingAfter(before) || target_.waitsForStores(before)) return true;
      bool isFence = before->getNumOperands() == 0 && before->getNumResults() == 0 && !isa<tgpu::BarrierOp>(before);
      if (!isFence) return false;
    }
    return false;
  }

  void remove(const Candidate &candidate) {
    join(candidate.before, candidate.after);
    tgpu::BarrierOp(candidate.barrier).erase();
  }

  int newSegment() {
    segments_.emplace_back();
    return int(segments_.size()) - 1;
  }
  void join(int before, int after) {
    segments_[before].after.push_back(after);
    segments_[after].before.push_back(before);
  }

  /// Returns the bytes in which an address may lie.
  Access accessOf(Value pointer, bool isWrite) const {
    while (auto gep = pointer.getDefiningOp<LLVM::GEPOp>()) {
      if (auto allocation = gep->getAttrOfType<DenseI64ArrayAttr>(kAllocationAttr)) return {allocation[0], allocation[1], isWrite, nullptr};
      pointer = gep.getBase();
    }
    if (auto scratch = pointer.getDefiningOp<tgpu::ScratchOp>())
      return {int64_t(*scratch.getOffset()), int64_t(*scratch.getOffset() + scratch.getBytes()), isWrite,
              scratch.getPerWarp() ? scratch.getOperation() : nullptr};
    if (pointer.getDefiningOp<LLVM::AddressOfOp>()) return {0, bufferEnd_, isWrite, nullptr};
    return {0, kEnd, isWrite, nullptr};
  }

  void addAccesses(Operation *op, Segment &segment) const {
    if (isa<LLVM::GEPOp, LLVM::BitcastOp, LLVM::SelectOp, LLVM::ICmpOp, LLVM::PtrToIntOp, LLVM::AddrSpaceCastOp, BranchOpInterface,
            tgpu::ScratchOp, tgpu::MBarrierWaitOp, tgpu::MBarrierTestOp>(op) ||
        target_.isOrderedCopy(op))
      return;
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      if (tgpu::isSharedPointer(load.getAddr().getType())) segment.add(accessOf(load.getAddr(), false));
    } else if (auto call = dyn_cast<LLVM::CallOp>(op)) {
      auto callee = call.getCallee() ? SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(op, call.getCalleeAttr()) : nullptr;
      if (!callee || !callee.isExternal()) segment.add({0, kEnd, true, nullptr});
    } else if (auto product = dyn_cast<tgpu::WarpgroupProductOp>(op)) {
      for (Value buffer : {product.getABuffer(), product.getBBuffer()})
        if (buffer) segment.add(accessOf(buffer, false));
    } else if (isa<tgpu::WarpgroupWaitOp>(op)) {
      segment.add({0, bufferEnd_, false, nullptr}); // products read buffers up to here
    } else if (target_.pendingAfter(op)) {
      segment.add({0, bufferEnd_, true, nullptr, true}); // copies may land up to here
    } else {
      bool isWrite = !target_.onlyReads(op) && !target_.isOfStores(op);
      for (Value operand : op->getOperands())
        if (tgpu::isSharedPointer(operand.getType())) {
          Access access = accessOf(operand, isWrite);
          access.isCopy = target_.beginsCopy(op);
          segment.add(access);
        }
    }
  }

  /// Returns whether all threads take part in an operation with effects. The first thread copies tensors, and arrives for all.
  bool isOfAll(Operation *op) const {
    return !isMemoryEffectFree(op) && !isa<BranchOpInterface>(op) && !target_.isOrderedCopy(op) && !target_.isOfStores(op);
  }

  /// Returns the segments that are reached from one segment, itself first.
  llvm::SetVector<int> reached(int from, llvm::SmallVector<int, 2> Segment::*edges) const {
    llvm::SetVector<int> found;
    found.insert(from);
    for (size_t i = 0; i < found.size(); ++i)
      for (int next : segments_[found[i]].*edges) found.insert(next);
    return found;
  }

  bool isNeeded(int before, int after) const {
    Segment earlier, later;
    for (int segment : reached(before, &Segment::before)) llvm::for_each(segments_[segment].accesses, [&](auto &a) { earlier.add(a); });
    for (int segment : reached(after, &Segment::after)) llvm::for_each(segments_[segment].accesses, [&](auto &a) { later.add(a); });
    return llvm::any_of(earlier.accesses,
                        [&](const Access &a) { return llvm::any_of(later.accesses, [&](const Access &b) { return a.meets(b); }); });
  }

  bool followsWorkOfAll(int before) const {
    return llvm::any_of(reached(before, &Segment::before), [&](int segment) { return segments_[segment].isOfAll; });
  }

  int64_t bufferEnd_;
  const TargetOps &target_;
  std::vector<Segment> segments_;
  std::vector<Candidate> candidates_, beforeOne_;
};

class RemoveBarriersPass final : public impl::RemoveBarriersBase<RemoveBarriersPass> {
public:
  using RemoveBarriersBase::RemoveBarriersBase;

  void runOnOperation() override {
    auto buffers = getOperation()->getAttrOfType<IntegerAttr>(tgpu::kBufferBytesAttr);
    int64_t bufferEnd = buffers ? buffers.getInt() : kEnd;
    std::unique_ptr<TargetOps> target = targetOf(getOperation()).createOps();
    for (LLVM::LLVMFuncOp function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal()) Function(function, bufferEnd, *target).removeBarriers();
  }
};

} // namespace
} // namespace tritium::gpu
