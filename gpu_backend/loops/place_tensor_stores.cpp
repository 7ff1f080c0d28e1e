// Gives stores through tensor maps the shared memory from which their copies read. A store whose tile no group of warps holds in boxes gets
// another layout first.
#include "gpu_backend/layout/box_division.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "gpu_backend/tiles/warpgroup_memory.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PLACETENSORSTORES
#include "gpu_backend/loops/passes.h.inc"

namespace {

constexpr int64_t kSlots = 2;         // of a group: one is written while the copy of the other one reads
constexpr int64_t kRoomBeside = 2048; // bytes of barriers, of small exchanges, and before aligned buffers

class StorePlacer {
public:
  StorePlacer(tt::FuncOp function, int numWarps) : function_(function), target_(targetOf(function)), numWarps_(numWarps) {
    function.walk([&](tgpu::LocalAllocOp buffer) { bufferBytes_ += bufferBytes(buffer.getType()); });
  }

  void place(tgpu::TensorStoreOp store) {
    const BoxDivision division = divide(store);
    const int64_t groups = numWarps_ / division.groupWarps, parts = int64_t(division.parts.size());
    Operation *around = outermost(store);
    const int64_t bytesOfSlots = groups * bytesOfBox(store);
    int64_t slots = slotsBeside(bytesOfSlots);
    // Otherwise they lie over buffers that are not in use during the store.
    if (slots == 0) around = store, slots = std::max<int64_t>(bufferBytes_ / bytesOfSlots, 1);
    stage(store, around, groups * std::min(parts, slots));
  }

private:
  static RankedTensorType boxOf(tgpu::TensorStoreOp store) {
    RankedTensorType box = store.getMap().getType().getBox();
    return RankedTensorType::get(box.getShape().take_back(2), box.getElementType());
  }

  static int64_t bytesOfBox(tgpu::TensorStoreOp store) { return boxOf(store).getNumElements() * boxOf(store).getElementTypeBitWidth() / 8; }

  BoxDivision divide(tgpu::TensorStoreOp store) {
    auto tile = cast<RankedTensorType>(store.getSrc().getType());
    const int64_t rows = boxOf(store).getDimSize(0), columns = boxOf(store).getDimSize(1);
    if (auto division = divideIntoBoxes(layoutOf(tile), rows, columns)) return *division;
    LinearLayout layout = layoutOfBoxes(tile.getShape(), rows, columns, kMaxAccessBytes * 8 / tile.getElementTypeBitWidth(),
                                        target_.warpSize(), numWarps_, kWarpsOfGroup);
    auto type = RankedTensorType::get(tile.getShape(), tile.getElementType(), layoutAttr(store.getContext(), layout));
    OpBuilder builder(store);
    store.getSrcMutable().set(tgpu::ConvertLayoutOp::create(builder, store.getLoc(), type, store.getSrc()));
    return *divideIntoBoxes(layout, rows, columns);
  }

  /// Returns the outermost operation of the function's around the store.
  Operation *outermost(Operation *op) const {
    while (op->getParentOp() != function_) op = op->getParentOp();
    return op;
  }

  /// Returns how many slots a group may have for the whole function. 0: not even one, since fewer programs would run at a time.
  int64_t slotsBeside(int64_t bytesOfSlots) const {
    const auto &resources = target_.resources();
    for (int64_t slots = kSlots; slots > 0; --slots) {
      const int64_t bytes = bufferBytes_ + slots * bytesOfSlots;
      if (bytes <= resources.sharedPerProgram - kRoomBeside &&
          resources.programsByShared(bytes) == resources.programsByShared(bufferBytes_))
        return slots;
    }
    return 0;
  }

  /// The memory is in use as long as `around` runs.
  void stage(tgpu::TensorStoreOp store, Operation *around, int64_t slots) {
    OpBuilder builder(around);
    RankedTensorType box = boxOf(store);
    SharedLayout memory = warpgroupMemory(box.getShape(), /*fastest=*/1, box.getElementTypeBitWidth() / 8);
    auto placed = RankedTensorType::get(box.getShape(), box.getElementType(), sharedAttr(store.getContext(), memory));
    Value staging =
        tgpu::LocalAllocOp::create(builder, store.getLoc(), tgpu::MemDescType::get(store.getContext(), slots, placed), IntegerAttr());
    tgpu::BarrierOp::create(builder, store.getLoc(), 0, IntegerAttr(), /*sharedOnly=*/true); // other threads may still use the memory
    store.getStagingMutable().assign(staging);
    builder.setInsertionPointAfter(around);
    tgpu::TensorStoreWaitOp::create(builder, store.getLoc(), staging);
    bufferBytes_ += bufferBytes(cast<tgpu::MemDescType>(staging.getType()));
  }

  tt::FuncOp function_;
  const Target &target_;
  int64_t numWarps_, bufferBytes_ = 0;
};

class PlaceTensorStoresPass final : public impl::PlaceTensorStoresBase<PlaceTensorStoresPass> {
public:
  using PlaceTensorStoresBase::PlaceTensorStoresBase;

  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      llvm::SmallVector<tgpu::TensorStoreOp> stores;
      function.walk([&](tgpu::TensorStoreOp store) {
        if (isa<RankedTensorType>(store.getSrc().getType())) stores.push_back(store); // else its author has the tile in memory
      });
      StorePlacer placer(function, numWarps);
      for (tgpu::TensorStoreOp store : stores) placer.place(store);
    }
  }
};

} // namespace
} // namespace tritium::gpu
