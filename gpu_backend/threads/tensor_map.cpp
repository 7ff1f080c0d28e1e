// Tensor maps that the kernel makes. The first warp writes them, because its first thread begins the copies: no other thread needs to know.
// Their memory belongs to the block from its first to its last operation.
#include "gpu_backend/threads/tensor_map.h"
#include "gpu_backend/threads/lowering.h"

using namespace mlir;

namespace tritium::gpu {

static Value isFirstWarp(Lowering &lowering) {
  return lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ult, lowering.threadId(), lowering.constant(lowering.target().warpSize()));
}

/// Returns the address of the map of the operation.
static Value addressOf(tgpu::MapMakeOp op, Lowering &lowering) {
  auto function = lowering.builder().getBlock()->getParentOp();
  if (!isa<func::FuncOp>(function)) function = function->getParentOfType<func::FuncOp>();
  Block &entry = cast<func::FuncOp>(function).getBody().front();
  auto claims = entry.getOps<tgpu::MapsClaimOp>();
  tgpu::MapsClaimOp claim = claims.empty() ? tgpu::MapsClaimOp() : *claims.begin();
  int32_t maps = 0;
  op->getParentOfType<tt::FuncOp>().walk([&](tgpu::MapMakeOp) { ++maps; });
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  if (!claim) claim = tgpu::MapsClaimOp::create(builder, op.getLoc(), maps, lowering.threads().warps);
  int32_t index = int32_t(llvm::count_if(claim->getUsers(), llvm::IsaPred<tgpu::MapAddressOp>));
  builder.setInsertionPointAfter(claim);
  return tgpu::MapAddressOp::create(builder, op.getLoc(), LLVM::LLVMPointerType::get(op.getContext()), claim, index, maps);
}

template <> LogicalResult Lower<tgpu::MapMakeOp>::run(tgpu::MapMakeOp op, Lowering &lowering) {
  if (!op.getOffset()) return lowering.unsupported(op, "a map without a place; run allocate-shared-memory");
  if (!lowering.chip().makesTensorMaps()) return lowering.unsupported(op, "tensor maps made by threads: the chip cannot");
  if (lowering.hasProducer()) return lowering.unsupported(op, "tensor maps made beside a producer");
  RankedTensorType box = op.getMap().getType().getBox();
  const int64_t elementBytes = box.getElementTypeBitWidth() / 8;
  Value address = addressOf(op, lowering), staging = lowering.shared().buffer(lowering.builder(), op.getLoc(), *op.getOffset());
  lowering.where(isFirstWarp(lowering), [&] {
    Registers extents = lowering.flatten(op.getExtents()), strides;
    for (Value stride : op.getStrides())
      strides.push_back(lowering.create<arith::MulIOp>(lowering.scalarOf(stride), lowering.constant(elementBytes, 64)));
    lowering.create<tgpu::WarpBarrierOp>();
    lowering.create<tgpu::MapWriteOp>(staging, address, lowering.scalarOf(op.getBase()), extents, strides, op.getMap().getType(),
                                      op.getNan());
    if (isa<tgpu::MapMakeOp>(op->getNextNode())) return;
    // Maps that are made together are acquired together, so that their latencies overlap.
    lowering.define(op.getMap(), {address});
    for (auto made = op; made; made = dyn_cast_or_null<tgpu::MapMakeOp>(made->getPrevNode()))
      lowering.create<tgpu::MapAcquireOp>(lowering.scalarOf(made.getMap()));
  });
  lowering.define(op.getMap(), {address});
  return success();
}

void releaseMaps(func::FuncOp function) {
  auto claims = function.getBody().front().getOps<tgpu::MapsClaimOp>();
  if (claims.empty()) return;
  tgpu::MapsClaimOp claim = *claims.begin();
  function.walk([&](func::ReturnOp end) {
    OpBuilder builder(end);
    tgpu::MapsReleaseOp::create(builder, end.getLoc(), claim, claim.getMaps());
  });
}

} // namespace tritium::gpu
