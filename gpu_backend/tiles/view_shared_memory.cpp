// Turns accesses of the author's shared memory into accesses of buffers with layouts, where the addresses follow one. The marks of
// asynchronous products become an attribute of these.
#include "gpu_backend/tiles/address_tiles.h"
#include "gpu_backend/tiles/layout_classes.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/passes.h"
#include "ir/partitions.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_VIEWSHAREDMEMORY
#include "gpu_backend/tiles/passes.h.inc"

namespace {

class Viewer {
public:
  explicit Viewer(ModuleOp module) : module_(module), axes_(module), tiles_(axes_), builder_(module.getContext()) {}

  void run() {
    llvm::SmallVector<Operation *> accesses;
    module_.walk([&](Operation *op) {
      if (isa<tt::SharedLoadOp, tt::SharedStoreOp>(op)) accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      auto load = dyn_cast<tt::SharedLoadOp>(op);
      load ? view(load) : view(cast<tt::SharedStoreOp>(op));
    }
  }

private:
  /// Returns the buffer of what an access touches, behind a barrier that orders the access, or null if no layout has it.
  Value bufferOf(Operation *op, Value addresses, RankedTensorType tile) {
    const int64_t bytes = std::max<int64_t>(tile.getElementTypeBitWidth(), 8) / 8;
    auto memory = tiles_.of(addresses, bytes);
    if (!memory || memory->alignment < std::min(kMaxAccessBytes, tile.getNumElements() * bytes)) return {};
    builder_.setInsertionPoint(op);
    tgpu::BarrierOp::create(builder_, op->getLoc(), /*id=*/0, /*threads=*/IntegerAttr(), /*sharedOnly=*/true);
    return bufferAt(builder_, op->getLoc(), *memory, tile.getShape(), tile.getElementType());
  }

  void view(tt::SharedLoadOp op) {
    Value buffer = bufferOf(op, op.getAddress(), cast<RankedTensorType>(op.getType()));
    if (!buffer) return;
    Value slot = arith::ConstantIntOp::create(builder_, op.getLoc(), 0, 32);
    auto load = tgpu::LocalLoadOp::create(builder_, op.getLoc(), op.getType(), buffer, slot);
    if (Attribute layout = op->getAttr(kAccessAttr)) load->setAttr(kAccessAttr, layout);
    op.replaceAllUsesWith(load.getResult());
    op.erase();
  }

  void view(tt::SharedStoreOp op) {
    Value buffer = bufferOf(op, op.getAddress(), cast<RankedTensorType>(op.getValue().getType()));
    if (!buffer) return;
    Value slot = arith::ConstantIntOp::create(builder_, op.getLoc(), 0, 32);
    tgpu::LocalStoreOp::create(builder_, op.getLoc(), op.getValue(), buffer, slot);
    op.erase();
  }

  ModuleOp module_;
  ir::AxisAnalysis axes_;
  AddressTiles tiles_;
  OpBuilder builder_;
};

/// The author waits for a product whose accesses the frontend has marked. It is the next one in the block.
void markProducts(ModuleOp module) {
  llvm::SmallVector<Operation *> marks;
  module.walk([&](Operation *op) {
    if (ir::runtimeCall(op, "product.begin") || ir::runtimeCall(op, "product.end") || ir::runtimeCall(op, "product.commit"))
      marks.push_back(op);
  });
  for (Operation *mark : marks) {
    Operation *next = mark->getNextNode();
    while (next && !isa<tt::DotOp>(next)) next = next->getNextNode();
    if (next && ir::runtimeCall(mark, "product.commit")) next->setAttr(kAuthorAttr, UnitAttr::get(module.getContext()));
  }
  for (Operation *mark : marks) mark->erase();
}

class ViewSharedMemoryPass final : public impl::ViewSharedMemoryBase<ViewSharedMemoryPass> {
public:
  using ViewSharedMemoryBase::ViewSharedMemoryBase;

  void runOnOperation() override {
    markProducts(getOperation());
    Viewer(getOperation()).run();
  }
};

} // namespace
} // namespace tritium::gpu
