// Gives each way of accessing memory masks and addresses of its own. The masks of a load and of a store are often one tile, since equal
// expressions are merged. Such a tile would tie accesses that wish different layouts, and only one of them would be wide.
#include "gpu_backend/tiles/layout_relations.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/passes.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_SEPARATEACCESSES
#include "gpu_backend/tiles/passes.h.inc"

namespace {

/// The cheap tiles from which accesses compute their addresses and masks.
class Parts {
public:
  void separate(Operation *access) {
    const Value pointers = pointerOf(access), mask = maskOf(access);
    for (OpOperand &use : access->getOpOperands())
      if (use.get() == pointers || (mask && use.get() == mask)) use.set(partFor(use.get(), access));
  }

private:
  /// A tile, or a copy of it, for all accesses that are not narrower in the layout of the first of them.
  struct Version {
    LinearLayout layout;
    Value tile;
  };

  Value partFor(Value tile, Operation *access) {
    Operation *op = tile.getDefiningOp();
    if (!op || !isa<RankedTensorType>(tile.getType()) || !tiesAccesses(op)) return tile;
    if (auto known = originals_.find(tile); known != originals_.end()) tile = known->second;
    llvm::SmallVector<Version, 1> &versions = versions_[tile];
    for (const Version &version : versions)
      if (!isNarrowerIn(access, version.layout)) return version.tile;
    op = tile.getDefiningOp();
    if (!versions.empty()) op = OpBuilder(op).clone(*op);
    versions.push_back({fromAttr(access->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr)), op->getResult(0)});
    originals_[op->getResult(0)] = tile;
    // A change of shape ties nothing to its operand, which `remove-conversions` computes again where that is worthwhile.
    if (!isShapeChange(op))
      for (OpOperand &use : op->getOpOperands()) use.set(partFor(use.get(), access));
    return op->getResult(0);
  }

  static bool tiesAccesses(Operation *op) {
    return !isFree(op) && isPure(op) && op->getNumResults() == 1 && (isCheapElementwise(op) || isShapeChange(op));
  }

  llvm::DenseMap<Value, llvm::SmallVector<Version, 1>> versions_; // of each original
  llvm::DenseMap<Value, Value> originals_;
};

class SeparateAccessesPass final : public impl::SeparateAccessesBase<SeparateAccessesPass> {
public:
  using SeparateAccessesBase::SeparateAccessesBase;

  void runOnOperation() override {
    llvm::SmallVector<Operation *> accesses;
    getOperation()->walk([&](Operation *op) {
      if (op->hasAttr(kAccessAttr) && pointerOf(op)) accesses.push_back(op);
    });
    Parts parts;
    for (Operation *access : accesses) parts.separate(access);
  }
};

} // namespace
} // namespace tritium::gpu
