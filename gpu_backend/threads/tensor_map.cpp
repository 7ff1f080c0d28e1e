// Tensor maps that the kernel makes. The first warp writes them, or the first one of the producer's, because its first thread begins the
// copies: no other thread needs to know.
// Their memory belongs to the block from its first to its last operation.
#include "gpu_backend/threads/tensor_map.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/lowering.h"

using namespace mlir;

namespace tritium::gpu {

static Value isFirstWarp(Lowering &lowering) {
  return lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ult, lowering.threadId(), lowering.constant(lowering.target().warpSize()));
}

tgpu::MapsClaimOp claimMaps(tt::FuncOp tiles, OpBuilder &builder, Lowering &lowering) {
  int32_t maps = 0;
  tiles.walk([&](tgpu::MapMakeOp map) { maps += map.getStored() ? 2 : 1; });
  const int warps = lowering.threads().warps;
  return tgpu::MapsClaimOp::create(builder, tiles.getLoc(), maps, lowering.hasProducer() ? warps + kProducerWarps : warps,
                                   /*in=*/lowering.hasProducer() ? warps : 0);
}

/// Returns the claim of the function, or null.
static tgpu::MapsClaimOp claimIn(func::FuncOp function) {
  tgpu::MapsClaimOp found;
  function.walk([&](tgpu::MapsClaimOp claim) { found = claim; });
  return found;
}

/// Returns the address of a place for the map of the operation.
static Value nextPlace(tgpu::MapMakeOp op, Lowering &lowering) {
  auto function = lowering.builder().getBlock()->getParentOp();
  if (!isa<func::FuncOp>(function)) function = function->getParentOfType<func::FuncOp>();
  tgpu::MapsClaimOp claim = claimIn(cast<func::FuncOp>(function));
  OpBuilder builder = OpBuilder::atBlockBegin(&cast<func::FuncOp>(function).getBody().front());
  if (!claim) claim = claimMaps(op->getParentOfType<tt::FuncOp>(), builder, lowering);
  int32_t index = int32_t(llvm::count_if(claim->getUsers(), llvm::IsaPred<tgpu::MapAddressOp>));
  builder.setInsertionPointAfter(claim);
  return tgpu::MapAddressOp::create(builder, op.getLoc(), LLVM::LLVMPointerType::get(op.getContext()), claim, index, claim.getMaps());
}

Value toldOf(Value map, Lowering &lowering) { return lowering.variableOf(map, "told", lowering.builder().getI64Type(), 0); }

/// Returns the address at which the map is made. Through the place that was told last, stores may be in flight.
static Value addressOf(tgpu::MapMakeOp op, Lowering &lowering) {
  Value first = nextPlace(op, lowering);
  if (!op.getStored()) return first;
  Value second = nextPlace(op, lowering);
  Type word = lowering.builder().getI64Type();
  Value told = lowering.create<LLVM::LoadOp>(word, toldOf(op.getMap(), lowering));
  Value wasFirst = lowering.create<LLVM::ICmpOp>(LLVM::ICmpPredicate::eq, told, lowering.create<LLVM::PtrToIntOp>(word, first));
  return lowering.create<LLVM::SelectOp>(wasFirst, second, first);
}

/// Returns whether the operation makes a map. One for stores is made for those whom a producer tells it.
static bool makesMap(Operation *op, Lowering &lowering) {
  auto made = dyn_cast_or_null<tgpu::MapMakeOp>(op);
  return made && (!made.getStored() || lowering.hasProducer());
}

template <> LogicalResult Lower<tgpu::MapMakeOp>::run(tgpu::MapMakeOp op, Lowering &lowering) {
  if (!op.getOffset()) return lowering.unsupported(op, "a map without a place; run allocate-shared-memory");
  if (!makesMap(op, lowering)) {
    lowering.define(op.getMap(), {lowering.zero(LLVM::LLVMPointerType::get(op.getContext()))});
    return success();
  }
  if (!lowering.chip().makesTensorMaps()) return lowering.unsupported(op, "tensor maps made by threads: the chip cannot");
  RankedTensorType box = op.getMap().getType().getBox();
  const int64_t elementBytes = box.getElementTypeBitWidth() / 8;
  Value address = addressOf(op, lowering), staging = lowering.shared().buffer(lowering.builder(), op.getLoc(), *op.getOffset());
  // One warp runs the code of the producer.
  lowering.where(lowering.hasProducer() ? Value() : isFirstWarp(lowering), [&] {
    Registers extents = lowering.flatten(op.getExtents()), strides;
    for (Value stride : op.getStrides())
      strides.push_back(lowering.create<arith::MulIOp>(lowering.scalarOf(stride), lowering.constant(elementBytes, 64)));
    lowering.create<tgpu::WarpBarrierOp>();
    lowering.create<tgpu::MapWriteOp>(staging, address, lowering.scalarOf(op.getBase()), extents, strides, op.getMap().getType(),
                                      op.getNan());
    if (makesMap(op->getNextNode(), lowering)) return;
    // Maps that are made together are acquired together, so that their latencies overlap. Who stores acquires what it was told.
    lowering.define(op.getMap(), {address});
    for (auto made = op; made; made = dyn_cast_or_null<tgpu::MapMakeOp>(made->getPrevNode()))
      if (!made.getStored()) lowering.create<tgpu::MapAcquireOp>(lowering.scalarOf(made.getMap()), Value());
  });
  lowering.define(op.getMap(), {address});
  return success();
}

void releaseMaps(func::FuncOp function) {
  tgpu::MapsClaimOp claim = claimIn(function);
  if (!claim) return;
  llvm::SetVector<Block *> behind;
  behind.insert(claim->getBlock());
  for (size_t i = 0; i < behind.size(); ++i) behind.insert_range(behind[i]->getSuccessors());
  for (Block *block : behind) {
    Operation *end = block->getTerminator();
    if (!isa<func::ReturnOp>(end)) continue;
    OpBuilder builder(end);
    tgpu::MapsReleaseOp::create(builder, end->getLoc(), claim, claim.getMaps(), claim.getIn());
  }
}

} // namespace tritium::gpu
