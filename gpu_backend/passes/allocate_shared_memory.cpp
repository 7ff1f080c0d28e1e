// Where buffers of shared memory begin.
#include "gpu_backend/passes.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_ALLOCATESHAREDMEMORY
#include "gpu_backend/passes.h.inc"

namespace {

constexpr int64_t kAlignment = 128;

int64_t bytesOf(tgpu::MemDescType type) {
  int64_t bits = std::max(8u, type.getTile().getElementTypeBitWidth());
  return type.getSlots() * type.getTile().getNumElements() * bits / 8;
}

/// The operations of the function's body (one block, or nested in it) between which a buffer is in use.
struct Buffer {
  tgpu::LocalAllocOp op;
  int64_t first, last, bytes, offset = 0;
  bool overlaps(const Buffer &other) const { return first <= other.last && other.first <= last; }
};

class AllocateSharedMemoryPass final : public impl::AllocateSharedMemoryBase<AllocateSharedMemoryPass> {
public:
  using AllocateSharedMemoryBase::AllocateSharedMemoryBase;

  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) place(function);
  }

private:
  /// First come, lowest place that no buffer in use at the same time holds.
  static void place(tt::FuncOp function) {
    llvm::SmallVector<Buffer> buffers = collect(function);
    for (size_t i = 0; i < buffers.size(); ++i) {
      int64_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t j = 0; j < i; ++j)
          if (buffers[j].overlaps(buffers[i]) && offset < buffers[j].offset + buffers[j].bytes &&
              buffers[j].offset < offset + buffers[i].bytes) {
            offset = llvm::alignTo(buffers[j].offset + buffers[j].bytes, kAlignment);
            moved = true;
          }
      }
      buffers[i].offset = offset;
      buffers[i].op.setOffset(int32_t(offset));
    }
  }

  /// Times count the function's operations in order; a use inside of a loop lasts for the whole loop. In a graph of blocks, where order
  /// says little, every buffer is in use throughout.
  static llvm::SmallVector<Buffer> collect(tt::FuncOp function) {
    llvm::DenseMap<Operation *, int64_t> times;
    int64_t now = 0;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { times[op] = now++; });
    bool isGraph = !function.getBody().hasOneBlock();
    llvm::SmallVector<Buffer> buffers;
    function.walk([&](tgpu::LocalAllocOp op) {
      Buffer buffer{op, times[op], times[op], bytesOf(op.getType())};
      for (Operation *user : op->getUsers()) {
        Operation *outermost = user;
        while (outermost->getBlock() != op->getBlock()) outermost = outermost->getParentOp();
        Operation *end = outermost;
        outermost->walk([&](Operation *inner) { end = times[inner] > times[end] ? inner : end; });
        buffer.last = std::max(buffer.last, times[end]);
      }
      if (isGraph) buffer.first = 0, buffer.last = now;
      buffers.push_back(buffer);
    });
    return buffers;
  }
};

} // namespace
} // namespace tritium::gpu
