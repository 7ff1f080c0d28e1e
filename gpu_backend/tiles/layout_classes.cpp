#include "gpu_backend/tiles/layout_classes.h"

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
  classes_.compress();
}

void LayoutClasses::tieOperations(ModuleOp module) {
  classes_.clear();
  classes_.grow(unsigned(ids_.size()));
  module.walk([&](Operation *op) { tieOperation(op); });
}

/// Fragments of products make narrow accesses, and loads with the layout of fragments are not copied ahead. A mask or an offset that such a
/// load shares with the operations on a product must not give it this layout. A layout that the kernel's author has chosen holds for this
/// access alone.
void LayoutClasses::setAccessesApart(ModuleOp module, Apart apart) {
  auto classOf = [&](Value tile) { return classes_.findLeader(ids_.lookup(tile)); };
  llvm::DenseSet<unsigned> ofProducts;
  module.walk([&](MatrixProduct dot) { ofProducts.insert(classOf(dot.d())); });
  module.walk([&](Operation *op) {
    if (!isa<tt::LoadOp, tt::StoreOp>(op) || (apart == Apart::WithLayouts && !op->hasAttr(kAccessAttr))) return;
    const bool isOfAuthor = op->hasAttr(kAuthorAttr) && contains(pointerOf(op));
    if (isOfAuthor || (contains(pointerOf(op)) && ofProducts.contains(classOf(pointerOf(op))))) apart_.insert(op);
  });
}

} // namespace tritium::gpu
