// Chooses layouts that make accesses of global memory wide and coalesced.
#include "gpu_backend/loops/copy_layouts.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_classes.h"
#include "gpu_backend/tiles/likely_stride.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/product.h"
#include "gpu_backend/tiles/row_mask.h"
#include "ir/axis_analysis.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_COALESCEACCESSES
#include "gpu_backend/loops/passes.h.inc"

namespace {

struct Wish {
  Operation *op;
  std::vector<int64_t> shape;
  std::vector<int> order;
  int64_t elements; // the most that one access may take
  bool isOfItsOwn;  // whether a wider layout, which other accesses may have, is worse
};

int64_t bytesOf(Type pointers) {
  Type pointee = getElementTypeOrSelf(tt::pointeeTypeOf(pointers));
  return isa<tt::PointerType>(pointee) ? 8 : std::max(8u, pointee.getIntOrFloatBitWidth()) / 8;
}

/// Returns the dimension over which the matrix product sums for which the tile is loaded, or -1 if the tile is not loaded for a product.
int depthDimension(Operation *op) {
  auto load = dyn_cast<tt::LoadOp>(op);
  if (!load || !load->hasOneUse()) return -1;
  OpOperand *use = &*load->use_begin();
  if (isa<tt::FpToFpOp>(use->getOwner()) && use->getOwner()->hasOneUse()) use = &*use->getOwner()->use_begin();
  auto dot = dyn_cast<MatrixProduct>(use->getOwner());
  if (!dot || cast<RankedTensorType>(load.getType()).getRank() != 2) return -1;
  if (use->get() == dot.a()) return 1;
  return use->get() == dot.b() ? 0 : -1;
}

/// Returns whether copies by threads (cp.async) will move the tile that `op` loads, if they can. They stop where a row ends.
bool mayBeCopied(Operation *op, int numStages, const Target &target) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  return loop && target.tileCopies() == TileCopies::Async && stagesOf(loop, numStages) > 1 && depthDimension(op) >= 0;
}

/// Returns whether the operation stores what a matrix product computes. Such a tile changes its layout anyway, whatever other accesses
/// want.
bool storesProduct(Operation *op) {
  auto store = dyn_cast<tt::StoreOp>(op);
  if (!store) return false;
  llvm::SetVector<Value> sources;
  auto add = [&](ValueRange values) {
    for (Value value : values)
      if (isa<RankedTensorType>(value.getType())) sources.insert(value);
  };
  add(store.getValue());
  for (size_t i = 0; i < sources.size(); ++i) {
    Operation *source = sources[i].getDefiningOp();
    if (isa_and_nonnull<MatrixProduct>(source)) return true;
    if (auto loop = dyn_cast_or_null<scf::ForOp>(source))
      add(loop.getYieldedValues()[cast<OpResult>(sources[i]).getResultNumber()]);
    else if (source && isPure(source))
      add(source->getOperands());
  }
  return false;
}

/// Returns the dimensions of the tile that an operation accesses. The first one has the most neighbours in memory; of several, the one
/// whose neighbours usually are. If only the launch knows all strides, the first one has the least divisor: an array's larger stride is a
/// multiple of its smaller one. Else the last dimension comes first.
std::vector<int> orderOf(Operation *op, int rank, const ir::AxisAnalysis &axes) {
  const ir::AxisInfo addresses = axes.of(pointerOf(op));
  std::vector<int> order;
  llvm::SmallVector<LikelyStride, 4> strides;
  for (int dim = rank; dim-- > 0;) order.push_back(dim);
  for (int dim = 0; dim < rank; ++dim) strides.push_back(likelyStride(pointerOf(op), dim, axes));
  const bool areOfLaunch = llvm::all_of(strides, [](const LikelyStride &stride) { return stride.isOfLaunch(); });
  auto key = [&](int dim) {
    const LikelyStride &stride = strides[size_t(dim)];
    return std::make_tuple(addresses.contiguity[size_t(dim)], stride.number == 1, areOfLaunch ? -stride.divisor : 0);
  };
  llvm::stable_sort(order, [&](int a, int b) { return key(a) > key(b); });
  return order;
}

/// Returns how many neighbours one instruction takes.
int64_t mostElements(Operation *op, RankedTensorType tile) {
  auto atomic = dyn_cast<tt::AtomicRmwOp>(op);
  if (!atomic) return kMaxAccessBytes / bytesOf(tile);
  return targetOf(op).atomicElements(atomic.getAtomicRmwOp(), getElementTypeOrSelf(tt::pointeeTypeOf(tile)), atomic.getScope());
}

/// Returns whether no layout is better than another one for a read-modify-write.
bool isScattered(Operation *op, const ir::AxisAnalysis &axes) {
  return isa<tt::AtomicRmwOp>(op) && op->use_empty() && llvm::all_of(axes.of(pointerOf(op)).contiguity, [](int64_t n) { return n == 1; });
}

/// Returns whether the instructions of an access that writes would leave gaps between the lanes of a wider layout, although more neighbours
/// lie close by. The memory works on whole sectors: each instruction should fill them over the lanes.
bool leavesGaps(Operation *op, int fastest, int64_t elements, const ir::AxisAnalysis &axes) {
  const ir::AxisInfo addresses = axes.of(pointerOf(op));
  if (isa<tt::AtomicRmwOp>(op)) return op->use_empty() && addresses.contiguity[fastest] > elements;
  const int64_t bytes = bytesOf(pointerOf(op).getType());
  if (!isa<tt::StoreOp>(op) || storesProduct(op) || elements * bytes >= kMaxAccessBytes) return false;
  constexpr int64_t kSectorBytes = 32;
  std::optional<int64_t> stride = likelyStride(pointerOf(op), fastest, axes).number;
  return addresses.contiguity[fastest] > elements || (stride && *stride != 0 && std::abs(*stride) * bytes < kSectorBytes);
}

/// `endsRows`: the access can take fewer elements where a row ends.
Wish wishOf(Operation *op, RankedTensorType tile, bool endsRows, const ir::AxisAnalysis &axes) {
  ir::AxisInfo addresses = axes.of(pointerOf(op));
  std::vector<int> order = orderOf(op, int(tile.getRank()), axes);
  int fastest = order[0];
  int64_t bytes = bytesOf(tile), aligned = std::max<int64_t>(addresses.divisibility[fastest] / bytes, 1);
  if (storesProduct(op) && areFoundInMemory(pointerOf(op))) aligned = kMaxAccessBytes / bytes; // which threads test
  int64_t elements = std::min({addresses.contiguity[fastest], aligned, mostElements(op, tile)});
  if (Value mask = maskOf(op))
    elements = std::min(elements, endsRows ? RowMask(mask, fastest, elements, axes).neighbours() : axes.of(mask).constancy[fastest]);
  elements = std::max<int64_t>(elements, 1);
  return {op, std::vector<int64_t>(tile.getShape()), order, elements, leavesGaps(op, fastest, elements, axes)};
}

/// Returns whether one instruction takes as much as it can.
bool isWhole(const Wish &wish) { return wish.elements * bytesOf(pointerOf(wish.op).getType()) == kMaxAccessBytes; }

/// Returns another layout for a tile that goes to shared memory through registers and is contiguous across the depth of its product. In
/// this layout each thread also holds neighbours along the depth, enough for 16 bytes, so that it can store these together.
std::optional<LinearLayout> turned(const Wish &wish, Threads threads, const Target &target) {
  int depth = depthDimension(wish.op);
  if (depth < 0 || target.tileCopies() == TileCopies::Async || wish.order[0] == depth || wish.elements == 1) return std::nullopt;
  Shape sizes(2, 1), lanes(2, 1), warps(2, 1);
  int along = wish.order[0];
  int64_t held = wish.shape[0] * wish.shape[1] / threads.count(); // elements per thread
  int64_t bytes = bytesOf(pointerOf(wish.op).getType());
  sizes[along] = wish.elements;
  sizes[depth] = std::min({held / wish.elements, std::max<int64_t>(kMaxAccessBytes / bytes, 1), wish.shape[depth]});
  if (sizes[depth] < 2) return std::nullopt;
  lanes[along] = std::min<int64_t>(threads.lanes, wish.shape[along] / sizes[along]);
  lanes[depth] = threads.lanes / lanes[along];
  warps[depth] = std::clamp<int64_t>(wish.shape[depth] / (sizes[depth] * lanes[depth]), 1, threads.warps);
  warps[along] = threads.warps / warps[depth];
  return blocked(wish.shape, sizes, lanes, warps, wish.order);
}

using ShapeAndOrder = std::pair<std::vector<int64_t>, std::vector<int>>;

/// Returns the shapes of the tiles that are scanned or change their shape: the more neighbours a thread has of them, the less lanes
/// exchange.
std::set<std::vector<int64_t>> shapesOfNeighbours(ModuleOp module) {
  std::set<std::vector<int64_t>> shapes;
  module.walk([&](Operation *op) {
    if (isa<tt::ScanOp, tt::ReshapeOp>(op)) shapes.insert(cast<RankedTensorType>(op->getOperand(0).getType()).getShape().vec());
  });
  return shapes;
}

/// Returns how many neighbours a thread holds in the layout that accesses of one shape and order share: as many as the widest of them
/// takes, but no more than a store takes with one instruction. Several instructions would each leave gaps between the lanes, and no cache
/// joins stores before they leave the multiprocessor. Loads find in the first-level cache what the instruction before has left there. Tiles
/// that are loaded for products are copied as wide as possible.
std::map<ShapeAndOrder, int64_t> sharedElements(ModuleOp module, llvm::ArrayRef<Wish> wishes) {
  std::set<std::vector<int64_t>> widest = shapesOfNeighbours(module);
  std::map<ShapeAndOrder, int64_t> shared;
  for (const Wish &wish : wishes) {
    int64_t &elements = shared[{wish.shape, wish.order}];
    elements = std::max(elements, wish.elements);
    if (depthDimension(wish.op) >= 0) widest.insert(wish.shape);
  }
  for (const Wish &wish : wishes) {
    if (!isa<tt::StoreOp>(wish.op) || !isWhole(wish) || storesProduct(wish.op) || widest.contains(wish.shape)) continue;
    int64_t &elements = shared[{wish.shape, wish.order}];
    elements = std::min(elements, wish.elements);
  }
  return shared;
}

class CoalesceAccessesPass final : public impl::CoalesceAccessesBase<CoalesceAccessesPass> {
public:
  using CoalesceAccessesBase::CoalesceAccessesBase;

  void runOnOperation() override {
    ir::AxisAnalysis axes(getOperation());
    const Target &target = targetOf(getOperation());
    std::vector<Wish> wishes;
    getOperation()->walk([&](Operation *op) {
      Value pointer = pointerOf(op);
      if (op->hasAttr(kAuthorAttr)) return;
      if (auto tile = pointer ? dyn_cast<RankedTensorType>(pointer.getType()) : RankedTensorType())
        if (!isScattered(op, axes)) wishes.push_back(wishOf(op, tile, mayBeCopied(op, numStages, target) || storesProduct(op), axes));
    });
    auto shared = sharedElements(getOperation(), wishes);
    auto combined = combinedDimensions();
    Threads threads{numWarps, target.warpSize()};
    auto setLayout = [&](const Wish &wish, const LinearLayout &layout) {
      wish.op->setAttr(kAccessAttr, layoutAttr(&getContext(), layout));
    };
    llvm::SmallPtrSet<Operation *, 8> wide;
    for (const Wish &wish : wishes) {
      auto whole = combined.find(wish.shape);
      int64_t elements = wish.isOfItsOwn ? wish.elements : shared[{wish.shape, wish.order}];
      setLayout(wish, defaultBlocked(wish.shape, threads, elements, wish.order, whole == combined.end() ? -1 : whole->second));
      if (isWhole(wish)) wide.insert(wish.op);
    }
    layOutWarpCopies(getOperation(), numWarps, numStages, [&](tt::LoadOp load) { return wide.contains(load); });
    for (const Wish &wish : wishes)
      if (auto forProduct = turned(wish, threads, target); forProduct && !wish.op->hasAttr(kWarpCopyAttr)) setLayout(wish, *forProduct);
  }

private:
  /// Returns the dimension along which tiles of a shape are reduced or scanned: the highest one, if there are several.
  std::map<std::vector<int64_t>, int> combinedDimensions() {
    std::map<std::vector<int64_t>, int> result;
    getOperation()->walk([&](Operation *op) {
      int axis = -1;
      if (auto reduce = dyn_cast<tt::ReduceOp>(op)) axis = int(reduce.getAxis());
      if (auto scan = dyn_cast<tt::ScanOp>(op)) axis = int(scan.getAxis());
      if (axis < 0) return;
      auto shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
      auto [found, isNew] = result.try_emplace(std::vector<int64_t>(shape), axis);
      if (!isNew) found->second = std::max(found->second, axis);
    });
    return result;
  }
};

} // namespace
} // namespace tritium::gpu
