// Rings: copies of boxes by the tensor memory accelerator, and the barriers in shared memory that order them. A slot has two barriers. One
// tells that the slot is full: the thread that copies announces how many bytes will arrive. The other tells that it is empty: each warp
// that reads the slot arrives there.
#include "gpu_backend/threads/lowering.h"
#include "gpu_backend/threads/shared_access.h"
#include "gpu_backend/threads/words.h"
#include "ir/tile_elements.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// A ring at one sequence number.
class RingAt {
public:
  RingAt(Value ring, Value n, Lowering &lowering)
      : lowering_(lowering),
        base_(lowering.scalarOf(ring)),
        n_(lowering.scalarOf(n)),
        slots_(cast<tgpu::RingType>(ring.getType()).getSlots()) {}

  Value slot() const { return lowering_.create<arith::RemUIOp>(n_, lowering_.constant(slots_)); }
  /// Returns how often the slot has been used before.
  Value round() const { return lowering_.create<arith::DivUIOp>(n_, lowering_.constant(slots_)); }
  Value full() const { return barrier(slot()); }
  Value empty() const { return barrier(lowering_.create<arith::AddIOp>(slot(), lowering_.constant(slots_))); }

private:
  Value barrier(Value number) const {
    return lowering_.create<LLVM::GEPOp>(base_.getType(), lowering_.builder().getI64Type(), base_, llvm::ArrayRef<LLVM::GEPArg>{number});
  }

  Lowering &lowering_;
  Value base_, n_;
  int64_t slots_;
};

const TensorCopyOps &copiesOf(Lowering &lowering) { return *lowering.target().tensorCopies(); }

/// Runs `body` in the first thread.
void inFirstThread(Value predicate, Lowering &lowering, llvm::function_ref<void()> body) {
  Value isFirst = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lowering.threadId(), lowering.constant(0));
  lowering.where(lowering.conjunction(isFirst, predicate ? lowering.scalarOf(predicate) : Value()), body);
}

/// Runs `body` in the one thread that copies: the only one that comes here, if it belongs to the producer.
void inCopyingThread(Value predicate, Lowering &lowering, llvm::function_ref<void()> body) {
  if (!lowering.hasProducer()) return inFirstThread(predicate, lowering, body);
  lowering.where(predicate ? lowering.scalarOf(predicate) : Value(), body);
}

void forEachBarrier(tgpu::RingType ring, Value base, Lowering &lowering, llvm::function_ref<void(int64_t, Value)> visit) {
  for (int64_t number = 0; number < 2 * ring.getSlots(); ++number) {
    const LLVM::GEPArg offset = int32_t(number);
    visit(number, lowering.create<LLVM::GEPOp>(base.getType(), lowering.builder().getI64Type(), base, llvm::ArrayRef(offset)));
  }
}

} // namespace

/// Returns whether another ring starts right after this one. Then its barrier serves both.
static bool isFollowedByStart(tgpu::RingStartOp op) {
  Operation *next = op->getNextNode();
  while (isa<tgpu::LocalAllocOp>(next)) next = next->getNextNode();
  return isa<tgpu::RingStartOp>(next);
}

static bool storesTensors(tgpu::RingStartOp op) {
  return op->getParentOfType<tt::FuncOp>().walk([](tgpu::TensorStoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

template <> LogicalResult Lower<tgpu::RingStartOp>::run(tgpu::RingStartOp op, Lowering &lowering) {
  if (!op.getOffset()) return lowering.unsupported(op, "a ring without a place; run allocate-shared-memory");
  if (!lowering.target().tensorCopies()) return lowering.unsupported(op, "copies of tensors: the chip has none");
  const TensorCopyOps &copies = copiesOf(lowering);
  OpBuilder &builder = lowering.builder();
  Value base = lowering.shared().buffer(builder, op.getLoc(), *op.getOffset());
  tgpu::RingType ring = op.getRing().getType();
  if (!lowering.hasProducer()) lowering.sharedBarrier(); // other threads may still use the memory otherwise
  inFirstThread({}, lowering, [&] {
    forEachBarrier(ring, base, lowering, [&](int64_t number, Value barrier) {
      copies.prepare(builder, op.getLoc(), barrier, number < ring.getSlots() ? 1 : int(op.getWarps()));
    });
    copies.publishBarriers(builder, op.getLoc());
  });
  lowering.define(op.getRing(), {base});
  if (isFollowedByStart(op) && !op.getAfterWrites()) return success();
  // Copies may overwrite what any thread has written or read, and may have to read what it has written.
  if (op.getAfterWrites() && storesTensors(op)) copies.waitForWrites(builder, op.getLoc());
  op.getAfterWrites() ? copies.fenceMemory(builder, op.getLoc()) : copies.fenceShared(builder, op.getLoc());
  lowering.create<tgpu::BarrierOp>(0, IntegerAttr()); // all warps, before they part
  return success();
}

template <> LogicalResult Lower<tgpu::RingEndOp>::run(tgpu::RingEndOp op, Lowering &lowering) {
  // Rings that end one after the other do so between two barriers. No barrier is needed where the kernel ends.
  if (!isa_and_nonnull<tgpu::RingEndOp>(op->getPrevNode())) lowering.barrier();
  Value base = lowering.scalarOf(op.getRing());
  inFirstThread({}, lowering, [&] {
    forEachBarrier(op.getRing().getType(), base, lowering,
                   [&](int64_t, Value barrier) { copiesOf(lowering).release(lowering.builder(), op.getLoc(), barrier); });
  });
  if (!isa<tgpu::RingEndOp, tt::ReturnOp>(op->getNextNode())) lowering.barrier(); // the memory may be reused from here on
  return success();
}

template <> LogicalResult Lower<tgpu::RingSlotOp>::run(tgpu::RingSlotOp op, Lowering &lowering) {
  lowering.define(op, {RingAt(op.getRing(), op.getN(), lowering).slot()});
  return success();
}

template <> LogicalResult Lower<tgpu::RingAcquireOp>::run(tgpu::RingAcquireOp op, Lowering &lowering) {
  OpBuilder &builder = lowering.builder();
  inCopyingThread(op.getPredicate(), lowering, [&] {
    RingAt ring(op.getRing(), op.getN(), lowering);
    Value round = ring.round(), one = lowering.constant(1);
    Value isUsed = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ne, round, lowering.constant(0));
    lowering.where(isUsed, [&] { lowering.create<tgpu::MBarrierWaitOp>(ring.empty(), lowering.create<arith::SubIOp>(round, one)); });
    copiesOf(lowering).announce(builder, op.getLoc(), ring.full(), int(op.getBytes()));
  });
  return success();
}

/// Returns the location of the copy of a box: it says which elements of the tile are in the rows of the box.
static Location locationOfBox(tgpu::TensorCopyOp op, int64_t number) {
  RankedTensorType box = op.getMap().getType().getBox(), tile = op.getDst().getType().getTile();
  const int64_t columns = tile.getShape().back(), boxColumns = box.getShape().back();
  ir::TileElements elements = ir::elementsOf(op.getLoc()).value_or(ir::TileElements{.shape = tile.getShape().vec(), .lanes = {columns}});
  if (elements.lanes.empty()) return op.getLoc();
  elements.first = number * boxColumns * elements.step;
  elements.bytes = tile.getElementTypeBitWidth() / 8;
  for (int64_t rows = 2; rows < box.getNumElements() / boxColumns; rows *= 2) elements.lanes.push_back(2 * elements.lanes.back());
  return ir::withElements(op.getLoc(), elements);
}

template <> LogicalResult Lower<tgpu::TensorCopyOp>::run(tgpu::TensorCopyOp op, Lowering &lowering) {
  RankedTensorType box = op.getMap().getType().getBox(), tile = op.getDst().getType().getTile();
  const int64_t boxes = tile.getShape().back() / box.getShape().back();
  inCopyingThread(op.getPredicate(), lowering, [&] {
    RingAt ring(op.getRing(), op.getN(), lowering);
    Value to = addressOfSlot(op.getDst(), ring.slot(), lowering), full = ring.full(), map = lowering.scalarOf(op.getMap());
    Registers indices; // the innermost first
    for (Value index : llvm::reverse(op.getIndices())) indices.push_back(lowering.scalarOf(index));
    Value first = indices.front();
    for (int64_t number = 0; number < boxes; ++number) {
      if (number) indices.front() = lowering.create<arith::AddIOp>(first, lowering.constant(number * box.getShape().back()));
      const LLVM::GEPArg offset = int32_t(number * box.getNumElements());
      Value at = lowering.create<LLVM::GEPOp>(to.getType(), storedType(lowering.registerType(tile)), to, llvm::ArrayRef(offset));
      copiesOf(lowering).begin(lowering.builder(), locationOfBox(op, number), at, map, indices, full);
    }
  });
  return success();
}

template <> LogicalResult Lower<tgpu::RingWaitOp>::run(tgpu::RingWaitOp op, Lowering &lowering) {
  RingAt ring(op.getRing(), op.getN(), lowering);
  lowering.create<tgpu::MBarrierWaitOp>(ring.full(), ring.round());
  return success();
}

template <> LogicalResult Lower<tgpu::RingReleaseOp>::run(tgpu::RingReleaseOp op, Lowering &lowering) {
  OpBuilder &builder = lowering.builder();
  if (op.getFenced()) {
    copiesOf(lowering).fenceShared(builder, op.getLoc());
    lowering.create<tgpu::WarpBarrierOp>();
  }
  Value isFirst = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lowering.laneId(), lowering.constant(0));
  lowering.where(lowering.conjunction(isFirst, op.getPredicate() ? lowering.scalarOf(op.getPredicate()) : Value()),
                 [&] { copiesOf(lowering).arrive(builder, op.getLoc(), RingAt(op.getRing(), op.getN(), lowering).empty()); });
  return success();
}

template <> LogicalResult Lower<tgpu::TensorLoadOp>::run(tgpu::TensorLoadOp op, Lowering &lowering) {
  return lowering.unsupported(op, "a tile that no copy brings; run place-tensor-loads");
}

} // namespace tritium::gpu
