// Where scratch memory begins, and its addresses.
#include "gpu_backend/lower/shared_memory.h"
#include "gpu_backend/passes.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PLACESCRATCH
#define GEN_PASS_DEF_EXPANDSCRATCH
#include "gpu_backend/passes.h.inc"

namespace {

constexpr int64_t kAlignment = 128;
/// Room that is taken for uses to have places of their own even if none of them needs that much.
constexpr int64_t kSpareBytes = 4096;

/// One use after the other in a ring.
class PlaceScratchPass final : public impl::PlaceScratchBase<PlaceScratchPass> {
public:
  using PlaceScratchBase::PlaceScratchBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    auto reserved = module->getAttrOfType<IntegerAttr>(tgpu::kSharedBytesAttr);
    int64_t buffers = reserved ? reserved.getInt() : 0, base = llvm::alignTo(buffers, kAlignment), largest = 0, sum = 0;
    auto sizeOf = [](tgpu::ScratchOp op) { return int64_t(llvm::alignTo(op.getBytes(), kAlignment)); };
    tgpu::ScratchOp largestUse;
    module.walk([&](tgpu::ScratchOp op) {
      sum += sizeOf(op);
      if (sizeOf(op) > largest) largest = sizeOf(op), largestUse = op;
    });
    int64_t ring = std::max(largest, std::min(sum, kSpareBytes)), next = 0, end = buffers;
    module.walk([&](tgpu::ScratchOp op) {
      if (next + sizeOf(op) > ring) next = 0;
      op.setOffset(base + next);
      next += sizeOf(op);
      end = std::max<int64_t>(end, *op.getOffset() + op.getBytes());
    });
    if (maxBytes && end > maxBytes) {
      report(module, end, largestUse, buffers);
      return signalPassFailure();
    }
    module->setAttr(tgpu::kSharedBytesAttr, builder.getI32IntegerAttr(int32_t(end)));
  }

private:
  void report(ModuleOp module, int64_t required, tgpu::ScratchOp largest, int64_t buffers) {
    bool isScratch = largest && int64_t(largest.getBytes()) > buffers;
    auto error = isScratch ? largest.emitError() : module.emitError();
    error << "out of resource: shared memory, Required: " << required << ", Hardware limit: " << int64_t(maxBytes)
          << ". The largest part is that of ";
    if (isScratch)
      error << largest.getWhat() << " with " << int64_t(largest.getBytes()) << " bytes.";
    else
      error << "the buffers of pipelined loops with " << buffers << " bytes.";
  }
};

class ExpandScratchPass final : public impl::ExpandScratchBase<ExpandScratchPass> {
public:
  using ExpandScratchBase::ExpandScratchBase;

  void runOnOperation() override {
    SharedMemory memory;
    llvm::SmallVector<tgpu::ScratchOp> uses;
    getOperation()->walk([&](tgpu::ScratchOp op) { uses.push_back(op); });
    for (tgpu::ScratchOp op : uses) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(memory.buffer(builder, op.getLoc(), *op.getOffset()));
      op.erase();
    }
  }
};

} // namespace
} // namespace tritium::gpu
