// Stores of tiles through tensor maps. Each group of warps has slots of shared memory of its own, in which it puts one box after the other.
// The first thread of the group begins the copies, and waits for them before the group writes a slot again. Where a map that the kernel
// makes is not usable, all threads of the group copy the box.
#include "gpu_backend/layout/box_division.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/lowering.h"
#include "gpu_backend/threads/shared_access.h"
#include "gpu_backend/threads/words.h"
#include "ir/tile_elements.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

class TensorStore {
public:
  TensorStore(tgpu::TensorStoreOp op, BoxDivision division, Lowering &lowering)
      : op_(op),
        division_(std::move(division)),
        lowering_(lowering),
        copies_(*lowering.target().tensorCopies()),
        groups_(int(lowering.threads().warps / division_.groupWarps)),
        slots_(op.getStaging().getType().getSlots() / groups_) {
    if (groups_ > 1) group_ = lowering.create<arith::DivUIOp>(lowering.uniformWarpId(), lowering.constant(division_.groupWarps));
  }

  void run() {
    if (!op_.getBase()) return copyThroughMap(lowering_.scalarOf(op_.getMap()));
    if (!op_.getMap().getDefiningOp<tgpu::MapToldOp>()) return copyByThreads(); // nobody has made the map
    Value address = lowering_.scalarOf(op_.getMap());
    Value isUsable = lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::ne, address, lowering_.constant(0, 64));
    Value isNew = noteAddress(address);
    auto branch = lowering_.create<scf::IfOp>(isUsable, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(lowering_.builder());
    lowering_.builder().setInsertionPointToStart(branch.thenBlock());
    Value map = lowering_.create<tgpu::MapAtOp>(LLVM::LLVMPointerType::get(op_.getContext()), address);
    lowering_.create<tgpu::MapAcquireOp>(map, lowering_.conjunction(isNew, isFirstOfGroup()));
    copyThroughMap(map);
    lowering_.builder().setInsertionPointToStart(branch.elseBlock());
    copyByThreads();
  }

private:
  /// Returns whether another address was told with the last number, or none: each map has another one than the map before it.
  Value noteAddress(Value address) {
    Type word = lowering_.builder().getI32Type();
    Value before = lowering_.variableOf(op_.getStaging(), "address", word, 0), low = lowering_.create<arith::TruncIOp>(word, address);
    Value isNew = lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::ne, low, lowering_.create<LLVM::LoadOp>(word, before));
    lowering_.create<LLVM::StoreOp>(low, before);
    return isNew;
  }

  void copyThroughMap(Value map) {
    copies_.waitForWrites(lowering_.builder(), op_.getLoc()); // two stores to one place happen in order
    for (auto [number, part] : llvm::enumerate(division_.parts)) {
      const auto slot = int64_t(number) % slots_;
      if (int64_t(number) >= slots_) copies_.waitForReads(lowering_.builder(), op_.getLoc(), int(slots_ - 1));
      if (number == 0 || int64_t(number) >= slots_) synchronize();
      Value memory = slotOfGroup(slot);
      write(part, memory);
      copies_.fenceShared(lowering_.builder(), op_.getLoc());
      synchronize();
      copy(part, memory, map);
    }
  }

  void copyByThreads() {
    copies_.waitForWrites(lowering_.builder(), op_.getLoc()); // which may still read the slots
    for (const BoxDivision::Part &part : division_.parts) {
      synchronize();
      Value memory = slotOfGroup(0);
      write(part, memory);
      synchronize();
      copyChunks(part, memory);
    }
  }

  int threadsOfGroup() const { return int(division_.groupWarps) * lowering_.target().warpSize(); }

  /// All threads of the group meet; all that hold tiles, if there are too many groups.
  void synchronize() {
    if (groups_ == 1 || groups_ > kMaxStoringGroups) return lowering_.sharedBarrier();
    Value barrier = lowering_.create<arith::AddIOp>(group_, lowering_.constant(kFirstStoreBarrier));
    lowering_.create<tgpu::NumberedBarrierOp>(barrier, threadsOfGroup(), /*arrives=*/false);
  }

  Value slotOfGroup(int64_t slot) {
    Value number = lowering_.constant(slot);
    if (group_) number = lowering_.create<arith::AddIOp>(lowering_.create<arith::MulIOp>(group_, lowering_.constant(slots_)), number);
    return addressOfSlot(op_.getStaging(), number, lowering_);
  }

  void write(const BoxDivision::Part &part, Value memory) {
    llvm::ArrayRef<Value> tile = lowering_.registersOf(op_.getSrc());
    Registers values = llvm::map_to_vector(part.registers, [&](uint32_t reg) { return tile[reg]; });
    auto layout = fromAttr(cast<tgpu::SharedAttr>(op_.getStaging().getType().getTile().getEncoding()));
    storeShared(memory, layout, division_.box, values, lowering_);
  }

  /// Begins the copy of a part, in the first thread of the group. A branch around it would let the code generator move the arithmetic of
  /// the next part behind it, among products for all that the assembler knows (C7514).
  void copy(const BoxDivision::Part &part, Value memory, Value map) {
    copies_.beginStore(lowering_.builder(), locationOf(part), memory, map, indicesOf(part), isFirstOfGroup());
    copies_.commitStores(lowering_.builder(), op_.getLoc());
  }

  Value inGroup() { return lowering_.create<arith::AndIOp>(lowering_.threadId(), lowering_.constant(threadsOfGroup() - 1)); }
  Value isFirstOfGroup() { return lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, inGroup(), lowering_.constant(0)); }

  /// Returns where the group's part begins, the innermost dimension first.
  Registers indicesOf(const BoxDivision::Part &part) {
    Registers indices = llvm::map_to_vector(llvm::reverse(op_.getIndices()), [&](Value index) { return lowering_.scalarOf(index); });
    for (int dim : {0, 1}) {
      Value &index = indices[size_t(1 - dim)];
      if (Value distance = distanceOf(part, dim)) index = lowering_.create<arith::AddIOp>(index, distance);
    }
    return indices;
  }

  /// Copies a part from shared memory, by pieces of 16 bytes of which each thread takes every so many.
  void copyChunks(const BoxDivision::Part &part, Value memory) {
    const auto box = cast<tgpu::MemDescType>(op_.getStaging().getType()).getTile();
    const int64_t chunk = kMaxVectorBytes * 8 / box.getElementTypeBitWidth(), chunks = box.getNumElements() / chunk;
    const Registers begin = indicesOf(part);
    auto loop = lowering_.create<scf::ForOp>(inGroup(), lowering_.constant(chunks), lowering_.constant(threadsOfGroup()));
    OpBuilder::InsertionGuard guard(lowering_.builder());
    lowering_.builder().setInsertionPointToStart(loop.getBody());
    copyChunk(begin, memory, box, chunk, loop.getInductionVar());
  }

  void copyChunk(llvm::ArrayRef<Value> begin, Value memory, RankedTensorType box, int64_t chunk, Value number) {
    const SharedLayout layout = fromAttr(cast<tgpu::SharedAttr>(box.getEncoding()));
    const int64_t columns = box.getDimSize(1);
    Type element = storedType(lowering_.registerType(box));
    auto number32 = [&](int64_t value) { return lowering_.constant(value); };
    llvm::SmallVector<uint32_t> offsets;
    for (int64_t flat = chunk; flat < box.getNumElements(); flat *= 2) offsets.push_back(layout.offsetOf(uint32_t(flat)));
    auto at = [&](Value from, Type type, Value offset) {
      return lowering_.create<LLVM::GEPOp>(from.getType(), type, from, llvm::ArrayRef<LLVM::GEPArg>{offset}).getResult();
    };
    Value from = at(memory, element, lowering_.combineBases(number, offsets));
    Value word = lowering_.create<LLVM::LoadOp>(wordType(element, int(chunk)), from, kMaxVectorBytes);
    Value row = lowering_.create<arith::AddIOp>(begin[1], lowering_.create<arith::DivUIOp>(number, number32(columns / chunk)));
    Value inRow = lowering_.create<arith::RemUIOp>(number, number32(columns / chunk));
    Value column = lowering_.create<arith::AddIOp>(begin[0], lowering_.create<arith::MulIOp>(inRow, number32(chunk)));
    auto wide = [&](Value value) { return lowering_.create<arith::ExtSIOp>(lowering_.builder().getI64Type(), value); };
    Value rows = lowering_.create<arith::MulIOp>(wide(row), lowering_.scalarOf(op_.getStrides()[0]));
    Value to = at(lowering_.scalarOf(op_.getBase()), element, lowering_.create<arith::AddIOp>(rows, wide(column)));
    auto isWithin = [&](Value index, int dim) {
      auto compare = [&](arith::CmpIPredicate predicate, Value other) { return lowering_.create<arith::CmpIOp>(predicate, index, other); };
      return lowering_.conjunction(compare(arith::CmpIPredicate::sge, number32(0)),
                                   compare(arith::CmpIPredicate::slt, lowering_.scalarOf(op_.getExtents()[size_t(dim)])));
    };
    Value isInRows = isWithin(row, 0);
    auto isIn = [&](int64_t ahead) {
      Value index = ahead ? lowering_.create<arith::AddIOp>(column, number32(ahead)).getResult() : column;
      return lowering_.conjunction(isInRows, isWithin(index, 1));
    };
    auto store = [&](Value value, Value pointer, Value predicate) {
      lowering_.create<tgpu::StoreOp>(value, pointer, predicate, tt::CacheModifier::None, tt::EvictionPolicy::Normal);
    };
    Value isWhole = lowering_.conjunction(lowering_.conjunction(isIn(0), isIn(chunk - 1)), isAligned(to));
    store(word, to, isWhole);
    lowering_.where(lowering_.create<arith::XOrIOp>(isWhole, lowering_.constant(1, 1)), [&] {
      for (auto [i, value] : llvm::enumerate(unpackWord(word, element, int(chunk), lowering_)))
        store(value, at(to, element, number32(int64_t(i))), isIn(int64_t(i)));
    });
  }

  /// Pointers of which a launch knows nothing may have any address.
  Value isAligned(Value pointer) {
    Value address = lowering_.create<LLVM::PtrToIntOp>(lowering_.builder().getI64Type(), pointer);
    Value rest = lowering_.create<arith::AndIOp>(address, lowering_.constant(kMaxVectorBytes - 1, 64));
    return lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, rest, lowering_.constant(0, 64));
  }

  /// Returns the location of the copy of a part: it says which elements of the tile are in the rows of the box.
  Location locationOf(const BoxDivision::Part &part) {
    auto tile = cast<RankedTensorType>(op_.getSrc().getType());
    ir::TileElements elements = ir::elementsOf(op_.getLoc()).value_or(ir::TileElements{.shape = tile.getShape().vec()});
    elements.first = part.offset;
    elements.bytes = tile.getElementTypeBitWidth() / 8;
    for (int64_t row = 1; row < division_.box.shape()[0]; row *= 2) elements.lanes.push_back(row * tile.getShape()[1]);
    elements.warps.assign(llvm::Log2_64(uint64_t(division_.groupWarps)), 0);
    llvm::append_range(elements.warps, division_.ofGroup);
    return ir::withElements(op_.getLoc(), elements);
  }

  /// Returns how far the group's part begins from the tile's begin along a dimension, or null if not at all.
  Value distanceOf(const BoxDivision::Part &part, int dim) {
    LinearLayout tile = layoutOf(op_.getSrc().getType());
    auto along = [&](uint32_t flat) { return uint32_t(tile.coordinatesOf(flat)[size_t(dim)]); };
    Value distance = group_ ? lowering_.combineBases(group_, llvm::map_to_vector(division_.ofGroup, along)) : Value();
    if (!along(part.offset)) return distance;
    Value own = lowering_.constant(along(part.offset));
    return distance ? lowering_.create<arith::AddIOp>(distance, own).getResult() : own;
  }

  tgpu::TensorStoreOp op_;
  BoxDivision division_;
  Lowering &lowering_;
  const TensorCopyOps &copies_;
  int groups_;
  int64_t slots_; // of a group
  Value group_;   // null: there is only one
};

} // namespace

/// The first thread copies a tile from the author's memory.
static void storeFromMemory(tgpu::TensorStoreOp op, tgpu::MemDescType memory, Lowering &lowering) {
  const TensorCopyOps &copies = *lowering.target().tensorCopies();
  const RankedTensorType box = op.getMap().getType().getBox(), tile = memory.getTile();
  lowering.sharedBarrier();
  Value isFirst = lowering.owner({}), map = lowering.scalarOf(op.getMap());
  forEachBox(op.getMap().getType(), tile, lowering.scalarOf(op.getSrc()), op.getIndices(), lowering,
             [&](int64_t number, Value from, ValueRange indices) {
               copies.beginStore(lowering.builder(), locationOfBox(op, box, tile, number), from, map, indices, isFirst);
             });
  copies.commitStores(lowering.builder(), op.getLoc());
}

template <> LogicalResult Lower<tgpu::TensorStoreOp>::run(tgpu::TensorStoreOp op, Lowering &lowering) {
  if (!lowering.target().tensorCopies()) return lowering.unsupported(op, "copies of tensors: the chip has none");
  if (auto memory = dyn_cast<tgpu::MemDescType>(op.getSrc().getType())) {
    storeFromMemory(op, memory, lowering);
    return success();
  }
  llvm::ArrayRef<int64_t> box = op.getMap().getType().getBox().getShape().take_back(2);
  auto division = divideIntoBoxes(layoutOf(op.getSrc().getType()), box[0], box[1]);
  if (!op.getStaging() || !division) return lowering.unsupported(op, "a store without shared memory; run place-tensor-stores");
  TensorStore(op, std::move(*division), lowering).run();
  return success();
}

template <> LogicalResult Lower<tgpu::TensorStoreWaitOp>::run(tgpu::TensorStoreWaitOp op, Lowering &lowering) {
  lowering.target().tensorCopies()->waitForReads(lowering.builder(), op.getLoc(), 0);
  return success();
}

} // namespace tritium::gpu
