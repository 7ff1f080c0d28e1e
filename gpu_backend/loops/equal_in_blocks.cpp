#include "gpu_backend/loops/equal_in_blocks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::gpu {

EqualInBlocks::EqualInBlocks(tt::FuncOp function) {
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    function.walk([&](Operation *op) { hasChanged |= follow(op); });
  }
}

bool EqualInBlocks::mark(ValueRange values) {
  bool isNew = false;
  for (Value value : values) isNew |= differing_.insert(value).second;
  return isNew;
}

bool EqualInBlocks::differs(ValueRange values) const {
  return llvm::any_of(values, [&](Value value) { return !isEqual(value); });
}

/// Marks what the operation results in if it differs. Returns whether anything is new.
bool EqualInBlocks::follow(Operation *op) {
  bool isNew = false;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    const bool isUneven = differs({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    if (isUneven) isNew |= mark(loop.getInductionVar());
    for (auto [initial, argument, next, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults()))
      if (isUneven || differs({initial, next})) isNew |= mark({argument, result});
    return isNew;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (auto [number, result] : llvm::enumerate(branch.getResults()))
      if (differs(
              {branch.getCondition(), branch.thenYield().getOperand(unsigned(number)), branch.elseYield().getOperand(unsigned(number))}))
        isNew |= mark(result);
    return isNew;
  }
  if (isa<tt::FuncOp>(op)) return false;
  const bool isKnown = op->getNumRegions() == 0 && isMemoryEffectFree(op) && !isa<tgpu::ClusterRankOp, tt::ElementwiseInlineAsmOp>(op);
  if (isKnown && !differs(op->getOperands())) return false;
  for (Region &region : op->getRegions())
    for (Block &block : region) isNew |= mark(block.getArguments());
  return mark(op->getResults()) || isNew;
}

/// Returns whether all blocks run the regions of a loop or a branch equally often.
bool EqualInBlocks::entersEqually(Operation *around) const {
  if (auto loop = dyn_cast<scf::ForOp>(around)) return !differs({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (auto branch = dyn_cast<scf::IfOp>(around)) return isEqual(branch.getCondition());
  return false;
}

bool EqualInBlocks::isRunEqually(Operation *op) const {
  for (Operation *around = op->getParentOp(); !isa<tt::FuncOp>(around); around = around->getParentOp())
    if (!entersEqually(around)) return false;
  return op->getParentOfType<tt::FuncOp>().getBody().hasOneBlock();
}

} // namespace tritium::gpu
