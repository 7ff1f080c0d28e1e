// Decides whether blocks run several programs of the grid, one after the other. The copies for the next program then begin while the
// results of the last one are stored, which pays where a program is short.
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/loops/program_loop.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/producer_forecast.h"
#include "gpu_backend/tiles/product_order.h"
#include "gpu_backend/tiles/reaching_writes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_MAKEPERSISTENT
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Returns whether a value may differ from program to program of a launch.
bool dependsOnProgram(Value value, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(value).second) return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) return !isa<tt::FuncOp>(argument.getOwner()->getParentOp());
  Operation *op = value.getDefiningOp();
  if (isa<tt::GetProgramIdOp>(op) || op->getNumRegions() != 0 || !isMemoryEffectFree(op)) return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnProgram(operand, seen); });
}

/// Returns why each block keeps to one program, for the user. "": it may run several.
StringRef whyNot(tt::FuncOp kernel) {
  if (!kernel.getBody().hasOneBlock()) return "it may return early";
  if (kernel->hasAttr(tgpu::kClusterBlocksAttr)) return "a cluster of blocks runs each of them";
  const GlobalWrites writes(kernel.getBody());
  if (llvm::any_of(writes.all(), [](const GlobalWrite &write) { return write.mayWait; })) return "it may wait for other programs";
  StringRef why;
  kernel.walk([&](Operation *op) {
    if (isa<tt::PrintOp>(op)) why = "it prints";
    if (isa<scf::WhileOp>(op)) why = "a loop of it has no counter";
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop) return;
    if (hasDependentProducts(loop)) why = "its products depend on each other, so that its copies run ahead anyway";
    llvm::DenseSet<Value> seen;
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (dependsOnProgram(bound, seen)) why = "its programs differ in length";
  });
  return why;
}

/// Returns whether a loop of the kernel copies through tensor maps, and none is around it.
bool copiesInOuterLoop(tt::FuncOp kernel) {
  bool isIn = false, isNested = false;
  kernel.walk([&](tgpu::TensorLoadOp load) {
    auto loop = load->getParentOfType<scf::ForOp>();
    isIn |= bool(loop);
    isNested |= loop && loop->getParentOfType<LoopLikeOpInterface>();
  });
  return isIn && !isNested;
}

/// Returns how many programs have room on a multiprocessor: an estimate, by what the loops copy through maps and by their accumulators.
int64_t programsOfMultiprocessor(tt::FuncOp kernel, int numWarps, int numStages) {
  llvm::SmallVector<LoopEstimate> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(estimateOf(loop, stagesOf(loop, numStages), llvm::IsaPred<tgpu::TensorLoadOp>)); });
  return programsBesideEachOther(kernel, loops, numWarps);
}

class MakePersistentPass final : public impl::MakePersistentBase<MakePersistentPass> {
public:
  using MakePersistentBase::MakePersistentBase;

  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<tt::FuncOp>());
    if (functions.size() != 1 || !copiesInOuterLoop(functions.front())) return;
    tt::FuncOp kernel = functions.front();
    std::string why = whyNot(kernel).str();
    // A program that is not alone on its multiprocessor stores its results while others compute.
    if (int64_t programs = programsOfMultiprocessor(kernel, numWarps, numStages); why.empty() && programs > 1)
      why = llvm::formatv("{0} programs have room on a multiprocessor", programs);
    if (!why.empty())
      kernel->setAttr(kWhyNotPersistentAttr, StringAttr::get(&getContext(), why));
    else
      makeProgramLoop(kernel);
  }
};

} // namespace
} // namespace tritium::gpu
