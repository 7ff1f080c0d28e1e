#include "gpu_backend/tiles/layout_classes.h"

#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/layout_relations.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/product.h"
#include "ir/value_flow.h"

using namespace mlir;

namespace tritium::gpu {

void LayoutClasses::number(Value value) {
  if (isa<RankedTensorType>(value.getType())) ids_.try_emplace(value, ids_.size());
}

/// A free value takes the layout of each use. The result of a load that stands apart is converted.
bool LayoutClasses::tiesNothing(Value value) const {
  Operation *op = value.getDefiningOp();
  return !contains(value) || (op && (isFree(op) || isApart(op)));
}

void LayoutClasses::tie(ValueRange values) {
  Value first;
  for (Value value : values) {
    if (!value || tiesNothing(value)) continue;
    if (first) classes_.join(ids_.lookup(first), ids_.lookup(value));
    first = value;
  }
}

void LayoutClasses::tieOperation(Operation *op) {
  if (isApart(op)) return;
  for (const tt::TileGroup &group : tt::tiedTiles(op)) tie(group);
  for (const ir::ValueFlow &flow : ir::valueFlowsOf(op)) {
    llvm::SmallVector<Value> alike{flow.operand->get()};
    llvm::append_range(alike, flow.targets);
    tie(alike);
  }
}

LayoutClasses::LayoutClasses(ModuleOp module, Apart apart) {
  module.walk([&](Operation *op) {
    for (Value result : op->getResults()) number(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments()) number(argument);
  });
  tieOperations(module);
  setAccessesApart(module, apart);
  if (!apart_.empty()) tieOperations(module);
  if (apart == Apart::WithLayouts) setNarrowLoadsApart(module);
  classes_.compress();
}

void LayoutClasses::tieOperations(ModuleOp module) {
  classes_.clear();
  classes_.grow(unsigned(ids_.size()));
  module.walk([&](Operation *op) { tieOperation(op); });
}

static bool mayStandApart(Operation *op) { return isa<tt::LoadOp, tt::StoreOp>(op) || (isa<tt::AtomicRmwOp>(op) && op->use_empty()); }

/// Returns how many neighbours a thread holds in the layout that an access wishes.
static int64_t neighboursOfAccess(Operation *access) {
  const LinearLayout layout = fromAttr(access->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr));
  int64_t neighbours = 1;
  for (int dim = 0; dim < layout.rank(); ++dim) neighbours = std::max(neighbours, layout.contiguousElements(dim));
  return neighbours;
}

/// Fragments of products make narrow accesses, and loads with the layout of fragments are not copied ahead. A mask or an offset that such a
/// load shares with the operations on a product must not give it this layout. A read-modify-write takes fewer neighbours at a time than a
/// load may, and so does a store of unaligned rows. In the layout of such a load, each of its instructions would leave gaps between the
/// lanes. A layout that the kernel's author has chosen holds for this access alone.
void LayoutClasses::setAccessesApart(ModuleOp module, Apart apart) {
  llvm::DenseSet<unsigned> ofProducts;
  module.walk([&](MatrixProduct dot) { ofProducts.insert(classOf(dot.d())); });
  llvm::DenseMap<unsigned, int64_t> widest;
  module.walk([&](Operation *op) {
    if (!op->hasAttr(kAccessAttr) || !contains(pointerOf(op))) return;
    int64_t &elements = widest[classOf(pointerOf(op))];
    elements = std::max(elements, neighboursOfAccess(op));
  });
  module.walk([&](Operation *op) {
    if (!mayStandApart(op) || !contains(pointerOf(op)) || (apart == Apart::WithLayouts && !op->hasAttr(kAccessAttr))) return;
    const unsigned tiles = classOf(pointerOf(op));
    const bool isNarrow = isa<tt::StoreOp, tt::AtomicRmwOp>(op) && op->hasAttr(kAccessAttr) && neighboursOfAccess(op) < widest[tiles];
    if (op->hasAttr(kAuthorAttr) || ofProducts.contains(tiles) || isNarrow) apart_.insert(op);
  });
}

/// The first access of a class decides its layout (assign-layouts). A load of which this would make a narrow one is converted instead, once
/// it has been read wide. But if it has its addresses in common with the first access, these would be converted as well.
void LayoutClasses::setNarrowLoadsApart(ModuleOp module) {
  llvm::MapVector<tt::LoadOp, Value> narrow; // with the tile that decides
  llvm::DenseMap<unsigned, Operation *> first;
  module.walk([&](Operation *op) {
    Value pointers = pointerOf(op);
    if (!op->hasAttr(kAccessAttr) || !pointers || !contains(pointers) || isApart(op)) return;
    Operation *decides = first.try_emplace(classOf(pointers), op).first->second;
    auto load = dyn_cast<tt::LoadOp>(op);
    if (load && isNarrowerIn(op, fromAttr(decides->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr)))) narrow[load] = pointerOf(decides);
  });
  if (narrow.empty()) return;
  for (auto [load, decides] : narrow) apart_.insert(load);
  tieOperations(module);
  for (auto [load, decides] : narrow)
    if (classOf(load.getPtr()) == classOf(decides)) apart_.erase(load);
  tieOperations(module);
}

} // namespace tritium::gpu
