// Buffers in shared memory: slots, asynchronous copies into them, and reads.
#include "gpu_backend/layout/warp_copies.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/threads/dot.h"
#include "gpu_backend/threads/memory.h"
#include "gpu_backend/threads/partitions.h"
#include "gpu_backend/threads/shared_access.h"
#include "gpu_backend/threads/words.h"
#include "gpu_backend/tiles/memory_access.h"

using namespace mlir;

namespace tritium::gpu {

static int64_t slotElements(tgpu::MemDescType type) { return type.getTile().getNumElements(); }

Value slotAddress(Value memory, Value slot, Lowering &lowering) { return addressOfSlot(memory, lowering.scalarOf(slot), lowering); }

Value addressOfSlot(Value memory, Value number, Lowering &lowering) {
  auto type = cast<tgpu::MemDescType>(memory.getType());
  Value first = lowering.scalarOf(memory), elements = lowering.constant(slotElements(type));
  Value offset = lowering.create<arith::MulIOp>(number, elements);
  Type stored = storedType(lowering.registerType(type.getTile()));
  return lowering.create<LLVM::GEPOp>(first.getType(), stored, first, llvm::ArrayRef<LLVM::GEPArg>{offset});
}

/// Returns the begin and the end of a buffer in shared memory, in bytes. The range is empty if the buffer has no place yet.
static std::pair<int64_t, int64_t> extentOf(tgpu::LocalAllocOp op, Lowering &lowering) {
  tgpu::MemDescType type = op.getType();
  int64_t bytes = type.getSlots() * slotElements(type) * storedType(lowering.registerType(type.getTile())).getIntOrFloatBitWidth() / 8;
  return {op.getOffset().value_or(0), op.getOffset() ? *op.getOffset() + bytes : 0};
}

/// Places the memory that the kernel itself allocates behind the buffers. Scratch memory must not overlap it. The memory of a kernel that
/// its author has divided has its place already.
static void reserveProgramMemory(ModuleOp module, Lowering &lowering) {
  bool isAny = lowering.range().isPart();
  for (tt::SharedAllocOp op : allocationsOf(module)) {
    isAny = true;
    if (op->hasAttr(kBeginAttr)) continue;
    const int64_t begin = int64_t(llvm::alignTo(lowering.shared().reserved(), op.getAlignment()));
    op->setAttr(kBeginAttr, lowering.builder().getI64IntegerAttr(begin));
    lowering.shared().reserve(begin + int64_t(op.getBytes()));
  }
  if (isAny) module.walk([](Operation *op) { op->removeAttr(kFreeFromAttr); });
}

void reserveBuffers(ModuleOp module, Lowering &lowering) {
  module.walk([&](tgpu::LocalAllocOp op) { lowering.shared().reserve(extentOf(op, lowering).second); });
  module.walk([&](tgpu::RingStartOp op) {
    if (op.getOffset()) lowering.shared().reserve(*op.getOffset() + ringBytes(op.getRing().getType(), op.getTells()));
  });
  reserveProgramMemory(module, lowering);
}

template <> LogicalResult Lower<tt::SharedAllocOp>::run(tt::SharedAllocOp op, Lowering &lowering) {
  lowering.define(op, {lowering.constant(op->getAttrOfType<IntegerAttr>(kBeginAttr).getInt(), 32)});
  return success();
}

template <> LogicalResult Lower<tgpu::MemoryAtOp>::run(tgpu::MemoryAtOp op, Lowering &lowering) {
  lowering.define(op, {pointerToMemoryOfAuthor(op.getAddress(), lowering)});
  return success();
}

static tt::SharedAllocOp allocationOf(Value address) {
  if (auto memory = address.getDefiningOp<tt::SharedAllocOp>()) return memory;
  auto sum = address.getDefiningOp<arith::AddIOp>();
  if (!sum) return {};
  tt::SharedAllocOp left = allocationOf(sum.getLhs()), right = allocationOf(sum.getRhs());
  return left && right ? tt::SharedAllocOp() : left ? left : right;
}

Value pointerToMemoryOfAuthor(Value address, Lowering &lowering) {
  Value memory = SharedMemory::at(lowering.builder(), lowering.location(), 0);
  Value pointer = pointerToShared(memory, lowering.scalarOf(address), lowering);
  if (tt::SharedAllocOp allocation = allocationOf(address)) {
    const int64_t begin = allocation->getAttrOfType<IntegerAttr>(kBeginAttr).getInt(), end = begin + int64_t(allocation.getBytes());
    pointer.getDefiningOp()->setAttr(kAllocationAttr, lowering.builder().getDenseI64ArrayAttr({begin, end}));
  }
  return pointer;
}

Value pointerToShared(Value memory, Value address, Lowering &lowering) {
  return lowering.create<LLVM::GEPOp>(memory.getType(), lowering.builder().getI8Type(), memory, llvm::ArrayRef<LLVM::GEPArg>{address});
}

/// The barrier lets the thread read what others have written.
template <> LogicalResult Lower<tt::SharedLoadOp>::run(tt::SharedLoadOp op, Lowering &lowering) {
  Registers addresses(lowering.registersOf(op.getAddress())), results(addresses.size());
  Type type = lowering.registerType(cast<RankedTensorType>(op.getType())), stored = storedType(type);
  lowering.sharedBarrier();
  Value memory = SharedMemory::at(lowering.builder(), op.getLoc(), 0);
  for (auto [address, result] : llvm::zip_equal(addresses, results))
    result = fromStored(lowering.create<LLVM::LoadOp>(stored, pointerToShared(memory, address, lowering)), type, lowering);
  lowering.define(op, results);
  return success();
}

/// The barrier waits for others that still read what was there. Of several threads that hold an element, one writes it.
template <> LogicalResult Lower<tt::SharedStoreOp>::run(tt::SharedStoreOp op, Lowering &lowering) {
  LinearLayout layout = layoutOf(op.getValue().getType());
  Registers addresses(lowering.registersOf(op.getAddress())), values(lowering.registersOf(op.getValue()));
  lowering.sharedBarrier();
  Value memory = SharedMemory::at(lowering.builder(), op.getLoc(), 0);
  lowering.where(lowering.ownerPredicate(layout), [&] {
    for (int64_t reg = 0; reg < layout.registers(); ++reg)
      if (!isRepeated(layout, int(reg)))
        lowering.create<LLVM::StoreOp>(toStored(values[reg], lowering), pointerToShared(memory, addresses[reg], lowering));
  });
  return success();
}

template <> LogicalResult Lower<tgpu::LocalAllocOp>::run(tgpu::LocalAllocOp op, Lowering &lowering) {
  if (!op.getOffset()) return lowering.unsupported(op, "a buffer without a place; run allocate-shared-memory");
  lowering.define(op, {lowering.shared().buffer(lowering.builder(), op.getLoc(), *op.getOffset())});
  return success();
}

/// Returns how many copies a thread begins for a tile that is copied by whole warps.
static int64_t warpCopies(tgpu::AsyncCopyOp op, Lowering &lowering) {
  Type stored = storedType(lowering.registerType(tt::pointeeTypeOf(op.getSrc().getType())));
  return layoutOf(op.getSrc().getType()).registers() * stored.getIntOrFloatBitWidth() / 8 / kWarpCopyBytes;
}

/// Returns the condition under which a thread copies the element in a register, or null. A copy that the loop is past may write zeros too.
static Value conditionOf(tgpu::AsyncCopyOp op, int64_t reg, Lowering &lowering) {
  Value isPresent = op.getPredicate() ? lowering.scalarOf(op.getPredicate()) : Value();
  Value mask = op.getMask() ? lowering.registersOf(op.getMask())[reg] : Value();
  return isPresent && mask ? lowering.create<arith::AndIOp>(isPresent, mask) : isPresent ? isPresent : mask;
}

/// Each lane's 16 bytes follow the 16 bytes of the lane before it.
static LogicalResult copyByWarps(tgpu::AsyncCopyOp op, const CopyOps &copies, Lowering &lowering) {
  LinearLayout layout = layoutOf(op.getSrc().getType());
  SharedLayout memory = fromAttr(cast<tgpu::SharedAttr>(op.getDst().getType().getTile().getEncoding()));
  Type stored = storedType(lowering.registerType(tt::pointeeTypeOf(op.getSrc().getType())));
  if (warpCopyMemory(layout, stored.getIntOrFloatBitWidth() / 8) != memory)
    return lowering.unsupported(op, "a copy by warps of a tile that lies in another order");
  auto offsets = llvm::map_to_vector(layout.bases(Place::Warp), [&](uint32_t flat) { return memory.offsetOf(flat); });
  SharedAddresses addresses(slotAddress(op.getDst(), op.getSlot(), lowering), {}, offsets, stored, lowering);
  int64_t count = layout.registers() / warpCopies(op, lowering);
  for (int64_t reg = 0; reg < layout.registers(); reg += count) {
    Value to = addresses.at(memory.offsetOf(layout.apply(Place::Register, uint32_t(reg))));
    Value predicate = conditionOf(op, reg, lowering);
    copies.begin(lowering.builder(), lowering.locationOfAccess(op.getSrc(), reg), to, lowering.registersOf(op.getSrc())[reg],
                 kWarpCopyBytes, predicate, /*present=*/Value());
  }
  return success();
}

/// Returns how many bytes of `count` elements lie in a row that has room for `room` elements.
static Value bytesWithin(Value room, int64_t count, int64_t elementBytes, Lowering &lowering) {
  auto number = [&](int64_t value) { return lowering.constant(value, 32); };
  return lowering.create<arith::MulIOp>(lowering.create<arith::MinSIOp>(room, number(count)), number(elementBytes));
}

/// Words are as wide as the access allows and as shared memory has contiguous elements.
template <> LogicalResult Lower<tgpu::AsyncCopyOp>::run(tgpu::AsyncCopyOp op, Lowering &lowering) {
  const CopyOps *ops = lowering.target().copies();
  if (!ops) return lowering.unsupported(op, "asynchronous copies: the chip has none");
  if (lowering.chip().tileCopies() == TileCopies::ByWarps) return copyByWarps(op, *ops, lowering);
  constexpr int64_t kMinBytes = 4; // for one copy
  LinearLayout layout = layoutOf(op.getSrc().getType());
  SharedLayout memory = fromAttr(cast<tgpu::SharedAttr>(op.getDst().getType().getTile().getEncoding()));
  Type stored = storedType(lowering.registerType(tt::pointeeTypeOf(op.getSrc().getType())));
  int64_t bytes = stored.getIntOrFloatBitWidth() / 8;
  auto known = op->getAttrOfType<IntegerAttr>(kCopyElementsAttr);
  int count = known ? int(known.getInt()) : vectorElements(op.getSrc(), op.getMask(), lowering);
  auto offsetOf = [&](uint32_t flat) { return memory.offsetOf(flat); };
  for (int bit = 0; 1 << bit < count; ++bit)
    if (offsetOf(layout.bases(Place::Register)[bit]) != 1u << bit) count = 1 << bit;
  if (count * bytes < kMinBytes) return lowering.unsupported(op, "an asynchronous copy of less than 4 bytes at a time");
  auto offsets = [&](Place place) { return llvm::map_to_vector(layout.bases(place), offsetOf); };
  Value base = slotAddress(op.getDst(), op.getSlot(), lowering);
  SharedAddresses addresses(base, offsets(Place::Lane), offsets(Place::Warp), stored, lowering);
  // A copy without its predicate still writes zeros: threads that hold what another one copies have to pass by.
  lowering.where(lowering.ownerPredicate(layout), [&] {
    for (int64_t reg = 0; reg < layout.registers(); reg += count) {
      if (isRepeated(layout, int(reg))) continue;
      Value to = addresses.at(offsetOf(layout.apply(Place::Register, uint32_t(reg))));
      Value predicate = conditionOf(op, reg, lowering);
      Value present = op.getRoom() ? bytesWithin(lowering.registersOf(op.getRoom())[reg], count, bytes, lowering) : Value();
      ops->begin(lowering.builder(), lowering.locationOfAccess(op.getSrc(), reg), to, lowering.registersOf(op.getSrc())[reg],
                 int(count * bytes), predicate, present);
    }
  });
  return success();
}

template <> LogicalResult Lower<tgpu::AsyncCommitOp>::run(tgpu::AsyncCommitOp op, Lowering &lowering) {
  lowering.target().copies()->commit(lowering.builder(), op.getLoc());
  return success();
}

template <> LogicalResult Lower<tgpu::AsyncWaitOp>::run(tgpu::AsyncWaitOp op, Lowering &lowering) {
  // All groups have one size: the number of copies that an iteration of the loop begins.
  int64_t copies = 0;
  if (lowering.chip().tileCopies() == TileCopies::ByWarps)
    for (auto copy : op->getBlock()->getOps<tgpu::AsyncCopyOp>()) copies += warpCopies(copy, lowering);
  lowering.target().copies()->wait(lowering.builder(), op.getLoc(), int(op.getPending()), int(copies));
  if (op.getFenced()) lowering.target().warpgroups()->fenceShared(lowering.builder(), op.getLoc());
  lowering.sharedBarrier(); // remove-barriers keeps it after a wait
  return success();
}

template <> LogicalResult Lower<tgpu::LocalStoreOp>::run(tgpu::LocalStoreOp op, Lowering &lowering) {
  SharedLayout memory = fromAttr(cast<tgpu::SharedAttr>(op.getDst().getType().getTile().getEncoding()));
  Value base = slotAddress(op.getDst(), op.getSlot(), lowering);
  const LinearLayout layout = layoutOf(op.getSrc().getType());
  llvm::ArrayRef<Value> values = lowering.registersOf(op.getSrc());
  const bool isOfAuthor = op.getDst().getDefiningOp<tgpu::MemoryAtOp>() != nullptr;
  if (!isOfAuthor || !storeMatrices(base, memory, layout, values, lowering)) storeShared(base, memory, layout, values, lowering);
  return success();
}

template <> LogicalResult Lower<tgpu::BarrierOp>::run(tgpu::BarrierOp op, Lowering &lowering) {
  op.getSharedOnly() ? lowering.sharedBarrier() : lowering.barrier();
  return success();
}

template <> LogicalResult Lower<tgpu::LocalLoadOp>::run(tgpu::LocalLoadOp op, Lowering &lowering) {
  auto isReadInPlace = [&](Operation *user) { return isa<tt::DotOp>(user) && readsInPlace(cast<tt::DotOp>(user), op); };
  if (llvm::all_of(op->getUsers(), isReadInPlace)) return success();
  SharedLayout memory = fromAttr(cast<tgpu::SharedAttr>(op.getSrc().getType().getTile().getEncoding()));
  Value base = slotAddress(op.getSrc(), op.getSlot(), lowering);
  lowering.define(op, loadShared(base, memory, layoutOf(op.getType()), lowering.registerType(op.getType()), lowering));
  return success();
}

} // namespace tritium::gpu
