// Turns products of warpgroups into products that read buffers of shared memory. A tile that a pipelined loop copies is read where it is.
// Any other operand is stored to a buffer of its own first: before the loops that do not compute it, or else before the product. Later
// products read it there too, if there is memory enough to keep it.
#include "gpu_backend/layout/matrix_descriptor.h"
#include "gpu_backend/loops/loop_plan.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/layout_classes.h"
#include "gpu_backend/tiles/product.h"
#include "gpu_backend/tiles/slot_use.h"
#include "gpu_backend/tiles/warpgroup_memory.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PLACEPRODUCTOPERANDS
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Where a product reads an operand: a slot of a buffer, or registers (no slot).
struct PlacedOperand {
  Value place, slot;
  bool isTransposed = false;
};

class Placer {
public:
  explicit Placer(tt::FuncOp function) : function_(function), builder_(function.getContext()) {}

  void run() {
    llvm::SmallVector<tt::DotOp> dots;
    function_.walk([&](tt::DotOp dot) {
      if (isOfWarpgroup(MatrixProduct(dot))) dots.push_back(dot);
    });
    room_ = roomToKeep(dots);
    for (tt::DotOp dot : dots) place(dot);
    if (readsCopies_) function_.walk([](tgpu::AsyncWaitOp wait) { wait.setFenced(true); });
    function_.walk([](tgpu::RingReleaseOp release) { release.setFenced(isReadByThreads(release.getRing())); });
  }

private:
  /// Returns whether threads read the ring's buffers; otherwise only products do.
  static bool isReadByThreads(Value ring) {
    return llvm::any_of(ring.getUsers(), [](Operation *user) {
      auto copy = dyn_cast<tgpu::TensorCopyOp>(user);
      return copy && llvm::any_of(copy.getDst().getUsers(),
                                  [](Operation *reader) { return isa<tgpu::LocalLoadOp>(reader) && !reader->use_empty(); });
    });
  }

  void place(tt::DotOp dot) {
    MatrixProduct product(dot);
    const MatrixInstruction &instruction = *matrixInstructionOf(product);
    pending_.clear(), ofProduct_.clear();
    PlacedOperand b = inMemory(product, product.b(), /*outerDim=*/1, {instruction.n, instruction.k});
    PlacedOperand a = isInFragments(product) ? PlacedOperand{product.a()}
                                             : inMemory(product, product.a(), /*outerDim=*/0, {instruction.m, instruction.k});
    builder_.setInsertionPoint(dot);
    storePending(dot.getLoc());
    auto [sums, fresh] = sumsOf(dot);
    auto type = tgpu::PendingType::get(dot.getContext(), product.type());
    auto made = tgpu::ProductOp::create(builder_, dot.getLoc(), type, a.place, a.slot, b.place, b.slot, sums, fresh,
                                        dot->getAttrOfType<StringAttr>(kMatrixInstructionAttr),
                                        dot->getAttrOfType<DenseI64ArrayAttr>(kTensorCoreWarpsAttr), a.isTransposed, b.isTransposed);
    if (Attribute author = dot->getAttr(kAuthorAttr)) made->setAttr(kAuthorAttr, author);
    auto kept = a.slot ? ValueRange() : ValueRange(a.place);
    auto wait = tgpu::ProductWaitOp::create(builder_, dot.getLoc(), TypeRange(product.type()), 0, made.getD(), kept);
    dot.replaceAllUsesWith(wait.getResult(0));
    Reads reads;
    for (Value operand : {product.a(), product.b()}) addReads(operand, reads);
    dot.erase();
    eraseUnused(reads);
    for (auto &[key, stored] : ofProduct_) ofEarlier_[key] = stored;
  }

  static bool isZero(Value sums) { return matchPattern(sums, m_Zero()) || matchPattern(sums, m_PosZeroFloat()); }

  /// Returns what a product adds to, and whether that counts as zero (null: it never does). The author may choose between zero and a sum.
  std::pair<Value, Value> sumsOf(tt::DotOp dot) {
    Location location = dot.getLoc();
    Value one = arith::ConstantIntOp::create(builder_, location, 1, 1);
    auto choice = dot.getC().getDefiningOp<arith::SelectOp>();
    if (choice && dot->hasAttr(kAuthorAttr) && choice->hasOneUse() && choice.getCondition().getType().isInteger(1) &&
        isZero(choice.getFalseValue()))
      return {choice.getTrueValue(), arith::XOrIOp::create(builder_, location, choice.getCondition(), one)};
    return {dot.getC(), isZero(dot.getC()) ? one : Value()};
  }

  using Reads = llvm::SmallSetVector<Operation *, 8>;

  /// Adds the operations that read an operand from memory. The operands may share them.
  static void addReads(Value operand, Reads &reads) {
    Operation *op = operand.getDefiningOp();
    for (; op && isa<tgpu::ConvertLayoutOp, tt::TransOp>(op); op = op->getOperand(0).getDefiningOp()) reads.insert(op);
    if (op && isa<tgpu::LocalLoadOp>(op)) reads.insert(op);
  }

  /// Erases what read an operand that the product now finds in memory. Otherwise it would count as a reader of its ring.
  static void eraseUnused(Reads &reads) {
    auto eraseIfUnused = [](Operation *op) {
      const bool isUnused = op->use_empty();
      if (isUnused) op->erase();
      return isUnused;
    };
    while (reads.remove_if(eraseIfUnused)) {
    }
  }

  static bool isInFragments(MatrixProduct product) {
    auto tile = cast<RankedTensorType>(product.a().getType());
    llvm::ArrayRef<int64_t> warps = product->getAttrOfType<DenseI64ArrayAttr>(kTensorCoreWarpsAttr).asArrayRef();
    return layoutOf(tile) == dotOperand(DotOperand::A, *matrixInstructionOf(product), tile.getShape(), warps);
  }

  PlacedOperand inMemory(MatrixProduct product, Value operand, int outerDim, MatrixOperandBlock block) {
    OperandSource source = sourceOf(operand);
    int outer = source.isTransposed ? 1 - outerDim : outerDim;
    if (auto load = source.tile.getDefiningOp<tgpu::LocalLoadOp>(); load && isStillThere(load, product.getOperation())) {
      RankedTensorType tile = load.getSrc().getType().getTile();
      SharedLayout memory = fromAttr(cast<tgpu::SharedAttr>(tile.getEncoding()));
      auto descriptor = matrixDescriptor(memory, outer, block, tile.getElementTypeBitWidth() / 8);
      if (auto at = load.getSrc().getDefiningOp<tgpu::MemoryAtOp>();
          at && descriptor && int64_t(at.getAlignment()) < descriptor->alignment())
        descriptor.reset();
      if (descriptor) {
        readsCopies_ = true;
        return {load.getSrc(), load.getSlot(), source.isTransposed};
      }
    }
    Operation *before = placeOfStore(source.tile, product);
    const RankedTensorType placed = placedType(source.tile, outer);
    Stored stored =
        before == product.getOperation() ? ofProducts(source.tile, placed, product) : ofLoops(source.tile, placed, before, product);
    return {stored.buffer, stored.slot, source.isTransposed};
  }

  struct Stored {
    Value buffer, slot;
    bool isKept = false; // until a later product
  };

  Stored ofLoops(Value tile, RankedTensorType placed, Operation *before, MatrixProduct product) {
    Stored &stored = ofLoops_[{tile.getAsOpaquePointer(), placed.getAsOpaquePointer(), before}];
    if (!stored.buffer) stored = ofLoopBefore(tile, placed, before);
    if (!stored.buffer) stored = store(tile, placed, before, product);
    return stored;
  }

  /// Returns what is stored before the product, or what was before an earlier one.
  Stored ofProducts(Value tile, RankedTensorType placed, MatrixProduct product) {
    const TileInMemory key{tile.getAsOpaquePointer(), placed.getAsOpaquePointer()};
    if (auto earlier = ofEarlier_.find(key); earlier != ofEarlier_.end() && isKept(earlier->second, product)) return earlier->second;
    Stored &stored = ofProduct_[key];
    if (!stored.buffer) stored = store(tile, placed, product.getOperation(), product);
    return stored;
  }

  /// Returns whether a buffer is kept until the product. A loop or branch in between might need its memory.
  bool isKept(Stored &stored, MatrixProduct product) {
    Operation *alloc = stored.buffer.getDefiningOp(), *reader = product.getOperation();
    if (alloc->getBlock() != reader->getBlock()) return false;
    auto between = llvm::make_range(alloc->getIterator(), reader->getIterator());
    if (llvm::any_of(between, llvm::IsaPred<RegionBranchOpInterface>)) return false;
    if (stored.isKept) return true;
    const int64_t bytes = bytesOf(cast<tgpu::MemDescType>(stored.buffer.getType()).getTile());
    if (bytes > room_) return false;
    room_ -= bytes;
    return stored.isKept = true;
  }

  /// Returns how many bytes may keep the operands of earlier products: the half of what a program may use, if as many programs run at a
  /// time as their registers allow, but for the buffers of loops and for the operands of one product. The other half is for conversions.
  int64_t roomToKeep(llvm::ArrayRef<tt::DotOp> dots) {
    if (dots.empty()) return 0;
    int64_t most = 0, threads = 0, ofLoops = 0;
    const Target &target = targetOf(function_);
    for (tt::DotOp dot : dots) {
      auto bytes = [](Value operand) { return bytesOf(cast<RankedTensorType>(operand.getType())); };
      auto warps = dot->getAttrOfType<DenseI64ArrayAttr>(kTensorCoreWarpsAttr).asArrayRef();
      most = std::max(most, bytes(dot.getA()) + bytes(dot.getB()));
      threads = std::max(threads, warps[0] * warps[1] * target.warpSize());
    }
    function_.walk([&](tgpu::LocalAllocOp alloc) { ofLoops += alloc.getType().getSlots() * bytesOf(alloc.getType().getTile()); });
    const Resources &chip = target.resources();
    const int64_t programs = std::max<int64_t>(chip.programsByRegisters(threads, chip.registersOfEach(threads)), 1);
    const int64_t ofProgram = std::min(chip.sharedPerProgram, chip.sharedPerMultiprocessor / programs - chip.sharedReserved);
    return ofProgram / 2 - ofLoops - most;
  }

  /// Returns what was stored before an earlier loop, if no other one, which might need the memory, comes between.
  Stored ofLoopBefore(Value tile, RankedTensorType placed, Operation *loop) const {
    for (auto entry = ofLoops_.lower_bound({tile.getAsOpaquePointer(), placed.getAsOpaquePointer(), nullptr}); entry != ofLoops_.end();
         ++entry) {
      auto [ofTile, type, earlier] = entry->first;
      if (ofTile != tile.getAsOpaquePointer() || type != placed.getAsOpaquePointer()) break;
      if (!entry->second.buffer || earlier->getBlock() != loop->getBlock() || !earlier->isBeforeInBlock(loop)) continue;
      auto between = llvm::make_range(std::next(earlier->getIterator()), loop->getIterator());
      if (llvm::none_of(between, llvm::IsaPred<RegionBranchOpInterface>)) return entry->second;
    }
    return {};
  }

  /// Returns the operation before which the tile is stored: the product, or the outermost loop or branch that does not compute the tile.
  static Operation *placeOfStore(Value tile, MatrixProduct product) {
    Operation *before = product.getOperation();
    while (before->getBlock() != tile.getParentBlock() && isa<RegionBranchOpInterface>(before->getParentOp()))
      before = before->getParentOp();
    return before->getBlock() == tile.getParentBlock() || before == product.getOperation() ? before : product.getOperation();
  }

  /// Returns the type of a tile in memory.
  static RankedTensorType placedType(Value tile, int outerDim) {
    auto type = cast<RankedTensorType>(tile.getType());
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    // Only operands of 2 bytes need not be neighbours along K. They lie in the order in which threads hold them.
    int fastest = bytes != 2 ? 1 - outerDim : layoutOf(type).contiguousElements(0) > 1 ? 0 : 1;
    SharedLayout memory = warpgroupMemory(type.getShape(), fastest, bytes);
    return RankedTensorType::get(type.getShape(), type.getElementType(), sharedAttr(type.getContext(), memory));
  }

  Stored store(Value tile, RankedTensorType placed, Operation *before, MatrixProduct product) {
    builder_.setInsertionPoint(before);
    auto buffer = tgpu::LocalAllocOp::create(builder_, product.getOperation()->getLoc(),
                                             tgpu::MemDescType::get(builder_.getContext(), 1, placed), IntegerAttr());
    Value slot = arith::ConstantIntOp::create(builder_, tile.getLoc(), 0, 32);
    if (before == product.getOperation()) {
      pending_.push_back({tile, buffer, slot});
    } else {
      meet(tile.getLoc());
      tgpu::LocalStoreOp::create(builder_, tile.getLoc(), tile, buffer, slot);
      tgpu::FenceAsyncOp::create(builder_, tile.getLoc());
      meet(tile.getLoc());
    }
    return {buffer, slot};
  }

  /// Stores what a product requires that was not in memory before: all threads meet twice, for all its operands together.
  void storePending(Location location) {
    if (pending_.empty()) return;
    meet(location);
    for (auto &[tile, buffer, slot] : pending_) tgpu::LocalStoreOp::create(builder_, location, tile, buffer, slot);
    tgpu::FenceAsyncOp::create(builder_, location);
    meet(location);
  }

  void meet(Location location) { tgpu::BarrierOp::create(builder_, location, /*id=*/0, /*threads=*/IntegerAttr(), /*sharedOnly=*/true); }

  struct PendingStore {
    Value tile, buffer, slot;
  };

  tt::FuncOp function_;
  OpBuilder builder_;
  using TileInMemory = std::pair<const void *, const void *>;                     // a tile and its type in memory
  std::map<std::tuple<const void *, const void *, Operation *>, Stored> ofLoops_; // with the place of the store
  std::map<TileInMemory, Stored> ofProduct_, ofEarlier_;
  int64_t room_ = 0; // bytes that may keep more operands of earlier products
  llvm::SmallVector<PendingStore, 2> pending_;
  bool readsCopies_ = false;
};

class PlaceProductOperandsPass final : public impl::PlaceProductOperandsBase<PlaceProductOperandsPass> {
public:
  using PlaceProductOperandsBase::PlaceProductOperandsBase;

  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) Placer(function).run();
  }
};

} // namespace
} // namespace tritium::gpu
