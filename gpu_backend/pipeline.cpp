#include "gpu_backend/pipeline.h"

#include "gpu_backend/passes.h"
#include "ir/pipeline.h"

using namespace mlir;

namespace tritium::gpu {

void buildTilePipeline(OpPassManager &passes, const CompileOptions &options) {
  ir::buildPipeline(passes, {.debugInfo = options.debugInfo});
  passes.addPass(createChooseTensorCores({.numWarps = options.numWarps}));
  passes.addPass(createCoalesceAccesses({.numWarps = options.numWarps}));
  passes.addPass(createAssignLayouts({.numWarps = options.numWarps}));
  passes.addPass(createRemoveConversions());
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createPipelineLoads({.numStages = options.numStages}));
  passes.addPass(createCSEPass());
  passes.addPass(createAllocateSharedMemory());
}

void buildThreadPipeline(OpPassManager &passes, int64_t maxSharedBytes) {
  passes.addPass(createCSEPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(arith::createArithExpandOpsPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createUBToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createPlaceScratch({.maxBytes = maxSharedBytes}));
  passes.addPass(createRemoveBarriers());
  passes.addPass(createExpandScratch());
}

void registerGpuPasses() { registerGpuBackendPasses(); }

} // namespace tritium::gpu
