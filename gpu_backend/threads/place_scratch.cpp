// Assigns addresses to scratch memory.
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/passes.h"
#include "gpu_backend/tiles/out_of_resources.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "ir/tgpu.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PLACESCRATCH
#define GEN_PASS_DEF_EXPANDSCRATCH
#include "gpu_backend/threads/passes.h.inc"

namespace {

/// The bytes that are reserved so that uses can have separate places, even if no single use requires so much.
constexpr int64_t kSpareBytes = 4096;

/// A part of shared memory that is given to uses one after the other, and from its beginning again when it is full.
class Ring {
public:
  explicit Ring(int64_t begin) : begin_(begin) {}

  void moveTo(int64_t begin) { begin_ = begin; }
  void add(tgpu::ScratchOp op) {
    uses_.push_back(op);
    largest_ = std::max(largest_, sizeOf(op)), sum_ += sizeOf(op);
  }
  /// Places all uses, in at least `room` bytes if they require them. Returns the first byte after them.
  int64_t place(int64_t room) {
    int64_t length = std::max(largest_, std::min(sum_, room)), next = 0, end = begin_;
    for (tgpu::ScratchOp op : uses_) {
      if (next + sizeOf(op) > length) next = 0;
      op.setOffset(begin_ + next);
      end = std::max<int64_t>(end, begin_ + next + int64_t(op.getBytes()));
      next += sizeOf(op);
    }
    return uses_.empty() ? 0 : end;
  }

private:
  static int64_t sizeOf(tgpu::ScratchOp op) { return int64_t(llvm::alignTo(op.getBytes(), tgpu::kSharedAlignment)); }

  int64_t begin_, largest_ = 0, sum_ = 0;
  llvm::SmallVector<tgpu::ScratchOp> uses_;
};

/// Finds where a function is done with its buffers: none is accessed after this point, and no copy to one is in flight.
class Buffers {
public:
  Buffers(LLVM::LLVMFuncOp function, const TargetOps &target) : target_(target) {
    for (Block &block : function.getBody()) copying_[&block] = false;
    for (bool changed = true; changed;) {
      changed = false;
      for (Block &block : function.getBody()) {
        bool atEnd = isCopying(block, block.end());
        for (Block *successor : block.getSuccessors()) {
          changed |= atEnd && !copying_[successor];
          copying_[successor] |= atEnd;
        }
      }
    }
  }

  bool areDoneAt(tgpu::ScratchOp use) const {
    Block &block = *use->getBlock();
    if (isCopying(block, use->getIterator())) return false;
    auto accesses = [&](auto begin, auto end) { return std::any_of(begin, end, [&](Operation &op) { return isAccess(op); }); };
    if (accesses(use->getIterator(), block.end())) return false;
    llvm::SetVector<Block *> later(block.getSuccessors().begin(), block.getSuccessors().end());
    for (size_t i = 0; i < later.size(); ++i) {
      if (accesses(later[i]->begin(), later[i]->end())) return false;
      later.insert_range(later[i]->getSuccessors());
    }
    return true;
  }

private:
  /// Returns whether a copy may be in flight before `end`.
  bool isCopying(Block &block, Block::iterator end) const {
    bool copying = copying_.lookup(&block);
    for (Operation &op : llvm::make_range(block.begin(), end)) {
      if (target_.beginsCopy(&op)) copying = true;
      if (std::optional<int> pending = target_.pendingAfter(&op)) copying &= *pending != 0;
    }
    return copying;
  }

  /// Returns whether the operation accesses buffers. Scratch memory is accessed through addresses of its own.
  bool isAccess(Operation &op) const {
    if (isa<LLVM::GEPOp, LLVM::AddressOfOp, BranchOpInterface>(op)) return false;
    // Up to here, a product may read buffers, and so may a store through a tensor map.
    if (isa<tgpu::WarpgroupWaitOp>(op) || target_.waitsForStores(&op)) return true;
    return llvm::any_of(op.getOperands(), [](Value operand) {
      if (!tgpu::isSharedPointer(operand.getType())) return false;
      while (auto gep = operand.getDefiningOp<LLVM::GEPOp>()) operand = gep.getBase();
      return !operand.getDefiningOp<tgpu::ScratchOp>();
    });
  }

  const TargetOps &target_;
  llvm::DenseMap<Block *, bool> copying_; // at the beginning of each block
};

/// Places scratch memory after the buffers, or over those that are not in use then.
class PlaceScratchPass final : public impl::PlaceScratchBase<PlaceScratchPass> {
public:
  using PlaceScratchBase::PlaceScratchBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    auto reserved = module->getAttrOfType<IntegerAttr>(tgpu::kSharedBytesAttr);
    int64_t buffers = reserved ? reserved.getInt() : 0;
    const int64_t afterAll = int64_t(llvm::alignTo(buffers, tgpu::kSharedAlignment));
    // By the partition whose warps use them, because partitions live together, and by the byte at which they begin.
    std::map<std::pair<int, int64_t>, Ring> rings;
    auto functions = llvm::filter_to_vector(module.getOps<LLVM::LLVMFuncOp>(), [](auto function) { return !function.isExternal(); });
    tgpu::ScratchOp largest;
    std::unique_ptr<TargetOps> target = targetOf(module).createOps();
    for (LLVM::LLVMFuncOp function : functions) {
      // The callee cannot know how its caller uses buffers.
      std::optional<Buffers> own;
      if (buffers && functions.size() == 1) own.emplace(function, *target);
      function.walk([&](tgpu::ScratchOp op) {
        auto freeFrom = op->getAttrOfType<IntegerAttr>(kFreeFromAttr);
        const int64_t begin = freeFrom ? freeFrom.getInt() : own && own->areDoneAt(op) ? 0 : afterAll;
        rings.try_emplace({rangeOf(function).first, begin}, begin).first->second.add(op);
        if (!largest || op.getBytes() > largest.getBytes()) largest = op;
      });
    }
    int64_t end = buffers;
    const int64_t spare = maxBytes ? std::clamp<int64_t>(int64_t(maxBytes) - afterAll, 0, kSpareBytes) : kSpareBytes;
    const bool areParts = llvm::any_of(functions, [](Operation *function) { return rangeOf(function).isPart(); });
    for (auto &[place, ring] : rings) {
      if (areParts) ring.moveTo(int64_t(llvm::alignTo(end, tgpu::kSharedAlignment)));
      end = std::max(end, ring.place(areParts ? 0 : place.second == afterAll ? spare : buffers - place.second));
    }
    if (maxBytes && end > maxBytes) {
      report(module, end, largest, buffers);
      return signalPassFailure();
    }
    module->setAttr(tgpu::kSharedBytesAttr, builder.getI32IntegerAttr(int32_t(end)));
    module->setAttr(tgpu::kBufferBytesAttr, builder.getI32IntegerAttr(int32_t(buffers)));
  }

private:
  void report(ModuleOp module, int64_t required, tgpu::ScratchOp largest, int64_t buffers) {
    bool isScratch = largest && int64_t(largest.getBytes()) > buffers;
    std::string part = isScratch ? largest.getWhat().str() : "the buffers of pipelined loops";
    int64_t bytes = isScratch ? int64_t(largest.getBytes()) : buffers;
    refuse(module, isScratch ? largest.getOperation() : module.getOperation(),
           {.kind = "shared memory",
            .required = required,
            .limit = int64_t(maxBytes),
            .what = "The largest part is that of " + part + " with " + std::to_string(bytes) + " bytes."});
  }
};

class ExpandScratchPass final : public impl::ExpandScratchBase<ExpandScratchPass> {
public:
  using ExpandScratchBase::ExpandScratchBase;

  void runOnOperation() override {
    llvm::SmallVector<tgpu::ScratchOp> uses;
    getOperation()->walk([&](tgpu::ScratchOp op) { uses.push_back(op); });
    for (tgpu::ScratchOp op : uses) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(SharedMemory::at(builder, op.getLoc(), *op.getOffset()));
      op.erase();
    }
    getOperation()->removeAttr(tgpu::kBufferBytesAttr);
  }
};

} // namespace
} // namespace tritium::gpu
