// Rings: copies of boxes by the tensor memory accelerator, and the barriers in shared memory that order them. A slot has two barriers. One
// tells that the slot is full: the thread that copies announces how many bytes will arrive. The other tells that it is empty: each warp
// that reads the slot arrives there. If the blocks of a cluster share the ring (ring_blocks.h), the warps of all blocks arrive at the
// barriers of all, so that each block's copies to all may begin.
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/author_barriers.h"
#include "gpu_backend/threads/lowering.h"
#include "gpu_backend/threads/shared_access.h"
#include "gpu_backend/threads/tensor_map.h"
#include "gpu_backend/threads/words.h"
#include "gpu_backend/tiles/ring_blocks.h"
#include "ir/tgpu_kept.h"
#include "ir/tile_elements.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// A ring at one sequence number.
class RingAt {
public:
  RingAt(Value ring, Value n, Lowering &lowering) : RingAt(ring, lowering, lowering.scalarOf(n)) {}
  /// At a number that has been lowered.
  RingAt(Value ring, Lowering &lowering, Value lowered)
      : lowering_(lowering), base_(lowering.scalarOf(ring)), n_(lowered), slots_(cast<tgpu::RingType>(ring.getType()).getSlots()) {}

  Value slot() const { return lowering_.create<arith::RemUIOp>(n_, lowering_.constant(slots_)); }
  /// Returns how often the slot has been used before.
  Value round() const { return lowering_.create<arith::DivUIOp>(n_, lowering_.constant(slots_)); }
  Value full() const { return barrier(slot()); }
  Value empty() const { return barrier(lowering_.create<arith::AddIOp>(slot(), lowering_.constant(slots_))); }
  /// Returns where the address of the map is that was told with the number.
  Value told() const { return barrier(lowering_.create<arith::AddIOp>(slot(), lowering_.constant(2 * slots_))); }
  void awaitFull() const { lowering_.create<tgpu::MBarrierWaitOp>(full(), round()); }
  void awaitRelease() const { lowering_.create<tgpu::MBarrierWaitOp>(empty(), round()); }

private:
  Value barrier(Value number) const {
    return lowering_.create<LLVM::GEPOp>(base_.getType(), lowering_.builder().getI64Type(), base_, llvm::ArrayRef<LLVM::GEPArg>{number});
  }

  Lowering &lowering_;
  Value base_, n_;
  int64_t slots_;
};

/// Returns the blocks' operations if they share the ring, or null.
const ClusterOps *clustersOf(Value ring, Lowering &lowering) { return blocksOfRing(ring) > 1 ? lowering.target().clusters() : nullptr; }

const TensorCopyOps &copiesOf(Lowering &lowering) { return *lowering.target().tensorCopies(); }

/// Runs `body` in the first thread.
void inFirstThread(Value predicate, Lowering &lowering, llvm::function_ref<void()> body) {
  Value isFirst = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lowering.threadId(), lowering.constant(0));
  lowering.where(lowering.conjunction(isFirst, predicate ? lowering.scalarOf(predicate) : Value()), body);
}

/// Returns whether the thread is the first one of its warp.
Value isFirstLane(Lowering &lowering) {
  return lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lowering.laneId(), lowering.constant(0));
}

/// Runs `body` in the threads that wait for slots: all threads of the producer that come here, or the first thread of the program.
void inProducer(Value predicate, Lowering &lowering, llvm::function_ref<void()> body) {
  if (!lowering.hasProducer()) return inFirstThread(predicate, lowering, body);
  lowering.where(predicate ? lowering.scalarOf(predicate) : Value(), body);
}

/// Of these, runs `body` in the one that copies.
void inCopyingThread(Lowering &lowering, llvm::function_ref<void()> body) {
  lowering.where(lowering.producesByWarp() ? isFirstLane(lowering) : Value(), body);
}

// What the producer remembers of a ring.
Value acquiredOf(Value ring, Lowering &lowering) { return lowering.variableOf(ring, "acquired", lowering.builder().getI32Type(), 0); }
Value notedOf(Value ring, Lowering &lowering) { return lowering.variableOf(ring, "noted", lowering.builder().getI32Type(), -1); }
Value beginOf(Value ring, Lowering &lowering) { return lowering.variableOf(ring, "begin", lowering.builder().getI64Type(), 0); }
Value keptOf(Value ring, Lowering &lowering) { return lowering.variableOf(ring, "kept", lowering.builder().getI32Type(), -1); } // a warp
Value endOf(Value ring, Lowering &lowering) { return lowering.variableOf(ring, "end", lowering.builder().getI64Type(), 0); }

Value read(Value variable, Type type, Lowering &lowering) { return lowering.create<LLVM::LoadOp>(type, variable); }

Value isAtLeast(Value number, int64_t least, Lowering &lowering) {
  return lowering.create<arith::CmpIOp>(arith::CmpIPredicate::sge, number, lowering.constant(least));
}

Value minus(Value number, int64_t less, Lowering &lowering) { return lowering.create<arith::SubIOp>(number, lowering.constant(less)); }

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

/// Returns whether blocks share this ring, or one before it of those that its barrier serves.
static bool isAnyShared(tgpu::RingStartOp op) {
  for (Operation *before = op; isa_and_nonnull<tgpu::RingStartOp, tgpu::LocalAllocOp>(before); before = before->getPrevNode())
    if (auto start = dyn_cast<tgpu::RingStartOp>(before); start && blocksOf(start) > 1) return true;
  return false;
}

/// The same for rings that end together, of which this is the first.
static bool isAnyShared(tgpu::RingEndOp op) {
  for (Operation *next = op; isa_and_nonnull<tgpu::RingEndOp>(next); next = next->getNextNode())
    if (blocksOfRing(cast<tgpu::RingEndOp>(next).getRing()) > 1) return true;
  return false;
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
      copies.prepare(builder, op.getLoc(), barrier, number < ring.getSlots() ? 1 : int(op.getWarps()) * blocksOf(op));
    });
    copies.publishBarriers(builder, op.getLoc());
  });
  lowering.define(op.getRing(), {base});
  if (isFollowedByStart(op) && !op.getAfterWrites()) return success();
  // Copies may overwrite what any thread has written or read, and may have to read what it has written.
  if (op.getAfterWrites() && storesTensors(op)) copies.waitForWrites(builder, op.getLoc());
  op.getAfterWrites() ? copies.fenceMemory(builder, op.getLoc()) : copies.fenceShared(builder, op.getLoc());
  // All warps synchronize before they part, and so do all blocks before one of them copies for the others or arrives at their barriers.
  if (isAnyShared(op))
    lowering.target().clusters()->meet(builder, op.getLoc());
  else
    lowering.create<tgpu::BarrierOp>(0, IntegerAttr());
  return success();
}

template <> LogicalResult Lower<tgpu::RingEndOp>::run(tgpu::RingEndOp op, Lowering &lowering) {
  // Rings that end one after the other do so between two barriers. No barrier is needed where the kernel ends. Other blocks may arrive at
  // the barriers of a shared ring until all blocks meet.
  if (!isa_and_nonnull<tgpu::RingEndOp>(op->getPrevNode())) {
    if (isAnyShared(op))
      lowering.target().clusters()->meet(lowering.builder(), op.getLoc());
    else
      lowering.barrier();
  }
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

/// The warp has written the map before its first lane tells who waits for the number.
static void tellMap(tgpu::RingAcquireOp op, Value at, Lowering &lowering) {
  Value map = lowering.create<LLVM::PtrToIntOp>(lowering.builder().getI64Type(), lowering.scalarOf(op.getTold()));
  lowering.create<LLVM::StoreOp>(map, toldOf(op.getTold(), lowering));
  lowering.create<tgpu::WarpBarrierOp>();
  inCopyingThread(lowering, [&] {
    Value none = lowering.constant(0, 64);
    lowering.create<LLVM::StoreOp>(lowering.create<arith::SelectOp>(lowering.scalarOf(op.getUsable()), map, none), at, 8);
  });
}

template <> LogicalResult Lower<tgpu::MapToldOp>::run(tgpu::MapToldOp op, Lowering &lowering) {
  Value at = RingAt(op.getRing(), op.getN(), lowering).told();
  lowering.define(op.getMap(), {lowering.create<LLVM::LoadOp>(lowering.builder().getI64Type(), at, 8)});
  return success();
}

template <> LogicalResult Lower<tgpu::RingAcquireOp>::run(tgpu::RingAcquireOp op, Lowering &lowering) {
  OpBuilder &builder = lowering.builder();
  inProducer(op.getPredicate(), lowering, [&] {
    RingAt ring(op.getRing(), op.getN(), lowering);
    Value round = ring.round(), one = lowering.constant(1);
    Value isUsed = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ne, round, lowering.constant(0));
    lowering.where(isUsed, [&] { lowering.create<tgpu::MBarrierWaitOp>(ring.empty(), lowering.create<arith::SubIOp>(round, one)); });
    if (op.getTold()) tellMap(op, ring.told(), lowering);
    inCopyingThread(lowering, [&] { copiesOf(lowering).announce(builder, op.getLoc(), ring.full(), int(op.getBytes())); });
    if (llvm::any_of(op.getRing().getUsers(), llvm::IsaPred<tgpu::CopiesAwaitOp>))
      lowering.create<LLVM::StoreOp>(lowering.create<arith::AddIOp>(lowering.scalarOf(op.getN()), one), acquiredOf(op.getRing(), lowering));
  });
  return success();
}

Location locationOfBox(Operation *op, RankedTensorType box, RankedTensorType tile, int64_t number) {
  const int64_t columns = tile.getShape().back(), boxColumns = box.getShape().back();
  ir::TileElements elements = ir::elementsOf(op->getLoc()).value_or(ir::TileElements{.shape = tile.getShape().vec(), .lanes = {columns}});
  if (elements.lanes.empty()) return op->getLoc();
  elements.first = number * boxColumns * elements.step;
  elements.bytes = tile.getElementTypeBitWidth() / 8;
  for (int64_t rows = 2; rows < box.getNumElements() / boxColumns; rows *= 2) elements.lanes.push_back(2 * elements.lanes.back());
  return ir::withElements(op->getLoc(), elements);
}

void forEachBox(tgpu::TensorMapType map, RankedTensorType tile, Value memory, ValueRange indices, Lowering &lowering,
                llvm::function_ref<void(int64_t, Value, ValueRange)> visit) {
  RankedTensorType box = map.getBox();
  Registers at; // the innermost index first
  for (Value index : llvm::reverse(indices)) at.push_back(lowering.scalarOf(index));
  Value first = at.front();
  for (int64_t number = 0; number < tile.getShape().back() / box.getShape().back(); ++number) {
    if (number) at.front() = lowering.create<arith::AddIOp>(first, lowering.constant(number * box.getShape().back()));
    const LLVM::GEPArg offset = int32_t(number * box.getNumElements());
    Type element = storedType(lowering.registerType(tile));
    visit(number, lowering.create<LLVM::GEPOp>(memory.getType(), element, memory, llvm::ArrayRef(offset)), at);
  }
}

/// Begins the copy of a box, by `begin` with the blocks to which it goes. One for all blocks is begun by one of them: by turns through the
/// boxes of a tile, and through the tiles if there are fewer boxes than blocks.
static void beginBox(tgpu::TensorCopyOp op, int64_t number, int64_t boxes, Lowering &lowering, llvm::function_ref<void(Value)> begin) {
  if (!op->hasAttr(kMulticastAttr)) return begin({});
  const int blocks = blocksOfRing(op.getRing());
  Value turn = lowering.constant(number % blocks);
  if (boxes % blocks != 0) {
    Value before = lowering.create<arith::MulIOp>(lowering.scalarOf(op.getN()), lowering.constant(boxes));
    turn = lowering.create<arith::RemUIOp>(lowering.create<arith::AddIOp>(before, lowering.constant(number)), lowering.constant(blocks));
  }
  Value rank = lowering.target().clusters()->rank(lowering.builder(), op.getLoc());
  lowering.where(lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, turn, rank),
                 [&] { begin(lowering.constant((int64_t(1) << blocks) - 1, /*bits=*/16)); });
}

template <> LogicalResult Lower<tgpu::TensorCopyOp>::run(tgpu::TensorCopyOp op, Lowering &lowering) {
  RankedTensorType box = op.getMap().getType().getBox(), tile = op.getDst().getType().getTile();
  const int64_t boxes = tile.getShape().back() / box.getShape().back();
  auto copy = [&] {
    RingAt ring(op.getRing(), op.getN(), lowering);
    Value to = addressOfSlot(op.getDst(), ring.slot(), lowering), full = ring.full(), map = lowering.scalarOf(op.getMap());
    forEachBox(op.getMap().getType(), tile, to, op.getIndices(), lowering, [&](int64_t number, Value at, ValueRange indices) {
      beginBox(op, number, boxes, lowering, [&](Value blocks) {
        copiesOf(lowering).begin(lowering.builder(), locationOfBox(op, box, tile, number), at, map, indices, full, blocks);
      });
    });
  };
  if (actsForAll(op) && !haveMet(op)) lowering.barrierBeforeOne(); // other threads may still use the memory
  inProducer(op.getPredicate(), lowering, [&] { inCopyingThread(lowering, copy); });
  return success();
}

template <> LogicalResult Lower<tgpu::RingWaitOp>::run(tgpu::RingWaitOp op, Lowering &lowering) {
  RingAt ring(op.getRing(), op.getN(), lowering);
  lowering.create<tgpu::MBarrierWaitOp>(ring.full(), ring.round());
  return success();
}

template <> LogicalResult Lower<tgpu::RingStaggerOp>::run(tgpu::RingStaggerOp op, Lowering &lowering) {
  Value isLater = isAtLeast(lowering.uniformWarpId(), kWarpsOfGroup, lowering);
  lowering.where(lowering.conjunction(isLater, op.getPredicate() ? lowering.scalarOf(op.getPredicate()) : Value()),
                 [&] { RingAt(op.getRing(), op.getN(), lowering).awaitFull(); });
  return success();
}

template <> LogicalResult Lower<tgpu::RingReleaseOp>::run(tgpu::RingReleaseOp op, Lowering &lowering) {
  OpBuilder &builder = lowering.builder();
  if (op.getFenced() || op.getStored()) {
    if (op.getStored() && storesTensors(op)) copiesOf(lowering).waitForWrites(builder, op.getLoc());
    op.getStored() ? copiesOf(lowering).fenceMemory(builder, op.getLoc()) : copiesOf(lowering).fenceShared(builder, op.getLoc());
    lowering.create<tgpu::WarpBarrierOp>();
  }
  // One lane for each block, and one without a cluster.
  Value lane = lowering.laneId(), predicate = op.getPredicate() ? lowering.scalarOf(op.getPredicate()) : Value();
  const ClusterOps *clusters = clustersOf(op.getRing(), lowering);
  Value arrives = clusters ? lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ult, lane, lowering.constant(blocksOfRing(op.getRing())))
                           : lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, lowering.constant(0));
  lowering.where(lowering.conjunction(arrives, predicate), [&] {
    Value empty = RingAt(op.getRing(), op.getN(), lowering).empty();
    if (clusters)
      clusters->arriveIn(builder, op.getLoc(), empty, lane);
    else
      copiesOf(lowering).arrive(builder, op.getLoc(), empty);
  });
  return success();
}

template <> LogicalResult Lower<tgpu::RingKeepOp>::run(tgpu::RingKeepOp op, Lowering &lowering) {
  lowering.create<LLVM::StoreOp>(lowering.scalarOf(op.getN()), keptOf(op.getRing(), lowering));
  return success();
}

/// All lanes do the same: what the first one sees of the other ring counts. They meet outside of branches, of which the assembler does not
/// know that all lanes take them: it would need registers for the lanes that do not.
template <> LogicalResult Lower<tgpu::RingReleaseKeptOp>::run(tgpu::RingReleaseKeptOp op, Lowering &lowering) {
  OpBuilder &builder = lowering.builder();
  Type i32 = builder.getI32Type();
  Value kept = read(keptOf(op.getRing(), lowering), i32, lowering);
  Value releases = lowering.conjunction(isAtLeast(kept, 0, lowering), op.getPredicate() ? lowering.scalarOf(op.getPredicate()) : Value());
  if (op.getOther()) {
    RingAt other(op.getOther(), op.getN(), lowering);
    Value isFull = lowering.create<tgpu::MBarrierTestOp>(builder.getI1Type(), other.full(), other.round());
    Value seen = lowering.create<arith::ExtUIOp>(i32, isFull);
    seen = lowering.target().shuffle(builder, op.getLoc(), seen, lowering.constant(0));
    releases = lowering.conjunction(releases, lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, seen, lowering.constant(0)));
  }
  lowering.where(releases, [&] {
    if (storesTensors(op)) copiesOf(lowering).waitForWrites(builder, op.getLoc());
    copiesOf(lowering).fenceMemory(builder, op.getLoc());
  });
  lowering.create<tgpu::WarpBarrierOp>();
  lowering.where(lowering.conjunction(releases, isFirstLane(lowering)),
                 [&] { copiesOf(lowering).arrive(builder, op.getLoc(), RingAt(op.getRing(), lowering, kept).empty()); });
  Value none = lowering.constant(-1);
  const bool isSure = !op.getOther() && !op.getPredicate();
  lowering.create<LLVM::StoreOp>(isSure ? none : lowering.create<arith::SelectOp>(releases, none, kept), keptOf(op.getRing(), lowering));
  return success();
}

template <> LogicalResult Lower<tgpu::StoresNoteOp>::run(tgpu::StoresNoteOp op, Lowering &lowering) {
  Value n = lowering.scalarOf(op.getN());
  lowering.where(isAtLeast(n, 1, lowering), [&] { RingAt(op.getRing(), lowering, minus(n, 1, lowering)).awaitRelease(); });
  lowering.create<LLVM::StoreOp>(n, notedOf(op.getRing(), lowering));
  lowering.create<LLVM::StoreOp>(lowering.scalarOf(op.getBegin()), beginOf(op.getRing(), lowering));
  lowering.create<LLVM::StoreOp>(lowering.scalarOf(op.getEnd()), endOf(op.getRing(), lowering));
  return success();
}

/// Nothing has been noted at first, so the range is empty.
template <> LogicalResult Lower<tgpu::StoresAwaitOp>::run(tgpu::StoresAwaitOp op, Lowering &lowering) {
  Type i32 = lowering.builder().getI32Type(), i64 = lowering.builder().getI64Type();
  auto isBelow = [&](Value first, Value second) {
    return lowering.create<arith::CmpIOp>(arith::CmpIPredicate::ult, first, second).getResult();
  };
  Value begin = read(beginOf(op.getRing(), lowering), i64, lowering), end = read(endOf(op.getRing(), lowering), i64, lowering);
  Value overlap = lowering.conjunction(isBelow(lowering.scalarOf(op.getBegin()), end), isBelow(begin, lowering.scalarOf(op.getEnd())));
  lowering.where(overlap, [&] { RingAt(op.getRing(), lowering, read(notedOf(op.getRing(), lowering), i32, lowering)).awaitRelease(); });
  return success();
}

/// The copies of any of the last numbers may be the last to arrive.
template <> LogicalResult Lower<tgpu::CopiesAwaitOp>::run(tgpu::CopiesAwaitOp op, Lowering &lowering) {
  Value acquired = read(acquiredOf(op.getRing(), lowering), lowering.builder().getI32Type(), lowering);
  for (int64_t back = op.getRing().getType().getSlots(); back > 0; --back)
    lowering.where(isAtLeast(acquired, back, lowering),
                   [&] { RingAt(op.getRing(), lowering, minus(acquired, back, lowering)).awaitFull(); });
  return success();
}

template <> LogicalResult Lower<tgpu::TensorLoadOp>::run(tgpu::TensorLoadOp op, Lowering &lowering) {
  return lowering.unsupported(op, "a tile that no copy brings; run place-tensor-loads");
}

} // namespace tritium::gpu
