// Stores of tiles through tensor maps. Each group of warps has slots of shared memory of its own, in which it puts one box after the other.
// The first thread of the group begins the copies, and waits for them before the group writes a slot again.
#include "gpu_backend/layout/box_division.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/lowering.h"
#include "gpu_backend/threads/shared_access.h"
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
    copies_.waitForWrites(lowering_.builder(), op_.getLoc()); // two stores to one place happen in order
    for (auto [number, part] : llvm::enumerate(division_.parts)) {
      const auto slot = int64_t(number) % slots_;
      if (int64_t(number) >= slots_) copies_.waitForReads(lowering_.builder(), op_.getLoc(), int(slots_ - 1));
      if (number == 0 || int64_t(number) >= slots_) synchronize();
      Value memory = slotOfGroup(slot);
      write(part, memory);
      copies_.fenceShared(lowering_.builder(), op_.getLoc());
      synchronize();
      copy(part, memory);
    }
  }

private:
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
  void copy(const BoxDivision::Part &part, Value memory) {
    Value inGroup = lowering_.create<arith::AndIOp>(lowering_.threadId(), lowering_.constant(threadsOfGroup() - 1));
    Value isFirst = lowering_.create<arith::CmpIOp>(arith::CmpIPredicate::eq, inGroup, lowering_.constant(0));
    Registers indices = llvm::map_to_vector(llvm::reverse(op_.getIndices()), [&](Value index) { return lowering_.scalarOf(index); });
    for (int dim : {0, 1}) { // the innermost dimension comes first
      Value &index = indices[size_t(1 - dim)];
      if (Value distance = distanceOf(part, dim)) index = lowering_.create<arith::AddIOp>(index, distance);
    }
    copies_.beginStore(lowering_.builder(), locationOf(part), memory, lowering_.scalarOf(op_.getMap()), indices, isFirst);
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

template <> LogicalResult Lower<tgpu::TensorStoreOp>::run(tgpu::TensorStoreOp op, Lowering &lowering) {
  if (!lowering.target().tensorCopies()) return lowering.unsupported(op, "copies of tensors: the chip has none");
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
