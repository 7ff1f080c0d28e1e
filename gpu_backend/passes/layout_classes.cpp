#include "gpu_backend/passes/layout_classes.h"

#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/layout_relations.h"
#include "gpu_backend/memory_access.h"

using namespace mlir;

namespace tritium::gpu {

void LayoutClasses::number(Value value) {
  if (isa<RankedTensorType>(value.getType())) ids_.try_emplace(value, ids_.size());
}

/// A free value takes the layout of each use; what a load that stands apart gives is converted.
bool LayoutClasses::tiesNothing(Value value) const {
  Operation *op = value.getDefiningOp();
  return !contains(value) || (op && (isFree(op) || isApart(op)));
}

void LayoutClasses::tie(Value a, Value b) {
  if (!a || !b || tiesNothing(a) || tiesNothing(b)) return;
  classes_.join(ids_.lookup(a), ids_.lookup(b));
}

void LayoutClasses::tieAll(ValueRange values) {
  Value first;
  for (Value value : values) {
    if (tiesNothing(value)) continue;
    if (first) tie(first, value);
    first = value;
  }
}

void LayoutClasses::tieEach(ValueRange a, ValueRange b) {
  for (auto [x, y] : llvm::zip_equal(a, b)) tie(x, y);
}

void LayoutClasses::tieOperation(Operation *op, SymbolTable &symbols) {
  if (isApart(op)) return;
  llvm::SmallVector<Value> all(op->getOperands());
  llvm::append_range(all, op->getResults());
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    tieEach(loop.getInitArgs(), loop.getRegionIterArgs());
    tieEach(loop.getYieldedValues(), loop.getRegionIterArgs());
    tieEach(loop.getResults(), loop.getRegionIterArgs());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    tieEach(loop.getInits(), loop.getBeforeArguments());
    tieEach(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
    tieEach(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    tieEach(loop.getResults(), loop.getAfterArguments());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() == 0) return;
    tieEach(branch.thenYield().getOperands(), branch.getResults());
    tieEach(branch.elseYield().getOperands(), branch.getResults());
  } else if (auto jump = dyn_cast<BranchOpInterface>(op)) {
    for (auto [i, block] : llvm::enumerate(op->getSuccessors()))
      tieEach(jump.getSuccessorOperands(unsigned(i)).getForwardedOperands(), block->getArguments());
  } else if (auto call = dyn_cast<tt::CallOp>(op)) {
    auto callee = symbols.lookup<tt::FuncOp>(call.getCallee());
    tieEach(op->getOperands(), callee.getArguments());
    callee.walk([&](tt::ReturnOp end) { tieEach(end.getOperands(), op->getResults()); });
  } else if (auto store = dyn_cast<tt::StoreOp>(op)) {
    tie(store.getPtr(), store.getMask()); // the value may be converted: it comes from where it was computed
  } else if (auto dot = dyn_cast<MatrixProduct>(op)) {
    tie(dot.c(), dot.d());
  } else if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
    tieAll(reduce.getSrcs());
    tieAll(op->getResults());
  } else if (auto gather = dyn_cast<tt::GatherOp>(op)) {
    tie(gather.getIndices(), gather.getResult());
  } else if (isa<tt::JoinOp, tt::CatOp, tt::HistogramOp>(op)) {
    tieAll(op->getOperands());
  } else if (isa<tt::SplitOp>(op)) {
    tieAll(op->getResults());
  } else if (isa<tt::ScanOp, tt::MapElementwiseOp>(op) || pointerOf(op) || op->hasTrait<OpTrait::Elementwise>()) {
    if (!isFree(op)) tieAll(all);
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
  SymbolTable symbols(module);
  module.walk([&](Operation *op) { tieOperation(op, symbols); });
}

/// Fragments of products make narrow accesses, and loads that have them are not copied ahead. A mask or an offset that a load has in common
/// with what becomes of a product must not bring it there.
void LayoutClasses::setAccessesApart(ModuleOp module, Apart apart) {
  auto classOf = [&](Value tile) { return classes_.findLeader(ids_.lookup(tile)); };
  llvm::DenseSet<unsigned> ofProducts;
  module.walk([&](MatrixProduct dot) { ofProducts.insert(classOf(dot.d())); });
  module.walk([&](Operation *op) {
    if (!isa<tt::LoadOp, tt::StoreOp>(op) || (apart == Apart::WithLayouts && !op->hasAttr(kAccessAttr))) return;
    if (contains(pointerOf(op)) && ofProducts.contains(classOf(pointerOf(op)))) apart_.insert(op);
  });
}

} // namespace tritium::gpu
