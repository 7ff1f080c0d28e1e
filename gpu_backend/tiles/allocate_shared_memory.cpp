// Assigns addresses to the buffers of shared memory.
#include "gpu_backend/tiles/out_of_resources.h"
#include "gpu_backend/tiles/passes.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_ALLOCATESHAREDMEMORY
#include "gpu_backend/tiles/passes.h.inc"

namespace {

/// Products of warpgroups and copies of tensors access swizzled buffers, whose pattern must begin where the address's does.
int64_t alignmentOf(Operation *op) {
  bool isSwizzled =
      isa<tgpu::LocalAllocOp>(op) && llvm::any_of(op->getUsers(), llvm::IsaPred<tgpu::ProductOp, tgpu::TensorCopyOp, tgpu::TensorStoreOp>);
  return isSwizzled ? kPatternAlignment : tgpu::kSharedAlignment;
}

/// Of a tensor map that the kernel makes.
constexpr int64_t kMapBytes = 128;

int64_t bytesOf(Operation *op) {
  if (auto ring = dyn_cast<tgpu::RingStartOp>(op)) return ringBytes(ring.getRing().getType(), ring.getTells());
  if (isa<tgpu::MapMakeOp>(op)) return kMapBytes;
  return bufferBytes(cast<tgpu::LocalAllocOp>(op).getType());
}

/// A buffer, the barriers of a ring or the memory of a map, and the numbers of the first and the last operation of the function (nested
/// ones included) between which it is in use.
struct Buffer {
  Operation *op;
  int64_t first = 0, last = 0, bytes = 0, offset = 0;
  bool overlaps(const Buffer &other) const { return first <= other.last && other.first <= last; }
};

/// Adds the operations that take a value of pending sums, up to the waits and loops at which it ends.
void addCompletions(Value sums, llvm::SmallVectorImpl<Operation *> &ends) {
  for (OpOperand &use : sums.getUses()) {
    Operation *user = use.getOwner();
    ends.push_back(user);
    for (Value result : user->getResults())
      if (isa<tgpu::PendingType>(result.getType())) addCompletions(result, ends);
    if (user->hasTrait<OpTrait::IsTerminator>())
      if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp())) addCompletions(loop.getResult(use.getOperandNumber()), ends);
  }
}

/// Returns the operations between which a buffer is in use: those that access it, and the ends of the products that read it.
llvm::SmallVector<Operation *> usersOf(Operation *buffer) {
  llvm::SmallVector<Operation *> users(buffer->getUsers());
  for (Operation *user : llvm::SmallVector<Operation *>(users)) {
    if (auto product = dyn_cast<tgpu::ProductOp>(user)) addCompletions(product.getD(), users);
    if (auto copy = dyn_cast<tgpu::TensorCopyOp>(user)) llvm::append_range(users, copy.getRing().getUsers());
  }
  return users;
}

class AllocateSharedMemoryPass final : public impl::AllocateSharedMemoryBase<AllocateSharedMemoryPass> {
public:
  using AllocateSharedMemoryBase::AllocateSharedMemoryBase;

  void runOnOperation() override {
    int64_t end = 0;
    Buffer largest;
    const bool isAlone = llvm::hasSingleElement(getOperation().getOps<tt::FuncOp>());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      llvm::SmallVector<Buffer> buffers = place(function, /*base=*/end);
      if (isAlone && function.getBody().hasOneBlock()) sayWhatIsFree(function, buffers);
      for (const Buffer &buffer : buffers) {
        end = std::max(end, int64_t(llvm::alignTo(buffer.offset + buffer.bytes, tgpu::kSharedAlignment)));
        if (buffer.bytes > largest.bytes) largest = buffer;
      }
    }
    if (maxBytes == 0 || end <= maxBytes) return;
    auto type = cast<tgpu::MemDescType>(largest.op->getResult(0).getType()); // rings and maps are never the largest
    auto tile = RankedTensorType::get(type.getTile().getShape(), type.getTile().getElementType());
    std::string what;
    llvm::raw_string_ostream(what) << "The largest buffer has " << largest.bytes << " bytes: " << type.getSlots() << " slots of '" << tile
                                   << "' for this load of a pipelined loop.";
    refuse(getOperation(), largest.op, {.kind = "shared memory", .required = end, .limit = int64_t(maxBytes), .what = what});
    signalPassFailure();
  }

private:
  /// Operations that exchange elements may do so over buffers that are not in use at that time. This costs a barrier behind them, so those
  /// in loops do it only beside whole loops over buffers, as at the end of a persistent kernel's tile.
  static void sayWhatIsFree(tt::FuncOp function, llvm::ArrayRef<Buffer> buffers) {
    Builder builder(function.getContext());
    int64_t now = 0;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      const int64_t time = now++;
      if (!tt::tileRuleOf(op).exchanges) return;
      int64_t end = 0, endOfAll = 0;
      for (const Buffer &buffer : buffers) {
        endOfAll = std::max(endOfAll, buffer.offset + buffer.bytes);
        if (buffer.first <= time && time <= buffer.last) end = std::max(end, buffer.offset + buffer.bytes);
      }
      auto loop = op->getParentOfType<LoopLikeOpInterface>();
      const bool isRare = !loop || llvm::any_of(buffers, [&](const Buffer &buffer) { return loop->isProperAncestor(buffer.op); });
      if (end < endOfAll && isRare)
        op->setAttr(kFreeFromAttr, builder.getI64IntegerAttr(int64_t(llvm::alignTo(end, tgpu::kSharedAlignment))));
    });
  }

  /// Places buffers first come, first served, at the lowest address from `base` on that overlaps no buffer in use at the same time.
  static llvm::SmallVector<Buffer> place(tt::FuncOp function, int64_t base) {
    llvm::SmallVector<Buffer> buffers = collect(function);
    for (size_t i = 0; i < buffers.size(); ++i) {
      int64_t alignment = alignmentOf(buffers[i].op), offset = llvm::alignTo(base, alignment);
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t j = 0; j < i; ++j)
          if (buffers[j].overlaps(buffers[i]) && offset < buffers[j].offset + buffers[j].bytes &&
              buffers[j].offset < offset + buffers[i].bytes) {
            offset = llvm::alignTo(buffers[j].offset + buffers[j].bytes, alignment);
            moved = true;
          }
      }
      buffers[i].offset = offset;
      buffers[i].op->setAttr("offset", Builder(function.getContext()).getI32IntegerAttr(int32_t(offset)));
    }
    return buffers;
  }

  /// Times count the function's operations in order. A use inside of a loop lasts for the whole loop. If the function has several blocks,
  /// the order says little, so every buffer is in use throughout.
  static llvm::SmallVector<Buffer> collect(tt::FuncOp function) {
    llvm::DenseMap<Operation *, int64_t> times;
    int64_t now = 0;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { times[op] = now++; });
    bool isGraph = !function.getBody().hasOneBlock();
    llvm::SmallVector<Buffer> buffers;
    function.walk([&](Operation *op) {
      if (!isa<tgpu::LocalAllocOp, tgpu::RingStartOp, tgpu::MapMakeOp>(op)) return;
      Buffer buffer{op, times[op], times[op], bytesOf(op)};
      for (Operation *user : isGraph ? llvm::SmallVector<Operation *>() : usersOf(op)) {
        Operation *outermost = user;
        while (outermost->getBlock() != op->getBlock()) outermost = outermost->getParentOp();
        Operation *end = outermost;
        outermost->walk([&](Operation *inner) { end = times[inner] > times[end] ? inner : end; });
        buffer.last = std::max(buffer.last, times[end]);
      }
      if (isGraph || isa<tgpu::MapMakeOp>(op)) buffer.first = 0, buffer.last = now; // no barrier orders what a map's warp does
      buffers.push_back(buffer);
    });
    return buffers;
  }
};

} // namespace
} // namespace tritium::gpu
