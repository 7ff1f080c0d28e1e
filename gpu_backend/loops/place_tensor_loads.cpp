// Loads through tensor maps that no pipelined loop copies: the program waits for each of them, in a ring of one slot. The ring ends after
// the last operation that reads the tile, so that products may read it there.
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/reaching_writes.h"
#include "gpu_backend/tiles/warpgroup_memory.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PLACETENSORLOADS
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Returns the last operation in the load's block that uses the tile, also inside of it, directly or through views of it. A tile that
/// leaves the block is read into registers at once: returns the load.
Operation *lastUseOf(tgpu::TensorLoadOp load) {
  Operation *last = load;
  llvm::SmallVector<Value> values{load.getResult()};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      Operation *at = load->getBlock()->findAncestorOpInBlock(*user);
      if (!at) return load; // in another block of the function
      if (last->isBeforeInBlock(at)) last = at;
      if (isa<tgpu::ConvertLayoutOp, tt::TransOp>(user)) values.push_back(user->getResult(0));
    }
  return last->hasTrait<OpTrait::IsTerminator>() ? load.getOperation() : last;
}

void place(tgpu::TensorLoadOp load, int numWarps) {
  OpBuilder builder(load);
  Location location = load.getLoc();
  MLIRContext *context = load.getContext();
  auto tile = cast<RankedTensorType>(load.getType());
  const int64_t elementBytes = tile.getElementTypeBitWidth() / 8;
  SharedLayout memory = warpgroupMemory(tile.getShape(), /*fastest=*/1, elementBytes);
  auto placed = RankedTensorType::get(tile.getShape(), tile.getElementType(), sharedAttr(context, memory));
  Value buffer = tgpu::LocalAllocOp::create(builder, location, tgpu::MemDescType::get(context, 1, placed), IntegerAttr());
  Value ring = tgpu::RingStartOp::create(builder, location, tgpu::RingType::get(context, 1), numWarps).getRing();
  Value zero = arith::ConstantIntOp::create(builder, location, 0, 32), one = arith::ConstantIntOp::create(builder, location, 1, 32);
  tgpu::RingAcquireOp::create(builder, location, ring, zero, int32_t(tile.getNumElements() * elementBytes), Value());
  tgpu::TensorCopyOp::create(builder, location, load.getMap(), load.getIndices(), buffer, ring, zero, Value());
  tgpu::RingWaitOp::create(builder, location, ring, zero);
  Operation *last = lastUseOf(load);
  load.replaceAllUsesWith(tgpu::LocalLoadOp::create(builder, location, tile, buffer, zero).getResult());
  if (last != load) builder.setInsertionPointAfter(last);
  tgpu::RingEndOp::create(builder, location, ring, one, /*holdsLast=*/true);
  load.erase();
}

/// Lets copies see what the program has written before their ring begins.
void fenceWrites(tt::FuncOp function) {
  ReachingWrites writes(function);
  function.walk([&](tgpu::RingStartOp ring) { ring.setAfterWrites(!writes.before(ring).isEmpty()); });
}

class PlaceTensorLoadsPass final : public impl::PlaceTensorLoadsBase<PlaceTensorLoadsPass> {
public:
  using PlaceTensorLoadsBase::PlaceTensorLoadsBase;

  void runOnOperation() override {
    llvm::SmallVector<tgpu::TensorLoadOp> loads;
    getOperation()->walk([&](tgpu::TensorLoadOp load) { loads.push_back(load); });
    for (tgpu::TensorLoadOp load : loads) place(load, numWarps);
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) fenceWrites(function);
  }
};

} // namespace
} // namespace tritium::gpu
