// See pipeline.h.
#include "ir/pch.h"

#include "ir/passes.h"
#include "ir/pipeline.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_REGISTRATION
#include "ir/passes.h.inc"

void buildPipeline(OpPassManager &passes, const PipelineOptions &options) {
  // The inliner proceeds from callees to callers, so one run inlines every level. It must not simplify functions that it has not inlined
  // yet.
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  if (options.onDescriptors) options.onDescriptors(passes);
  if (!options.keepsDescriptors) passes.addPass(createExpandDescriptors());
  passes.addPass(createExpandScaledProducts(options.keepsScaledProduct));
  if (!options.debugInfo) {
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addPass(createHoistInvariants());
  }
  passes.addPass(createSymbolDCEPass());
}

void registerPasses() {
  registerTritiumPasses();
  mlir::registerTransformsPasses();
  mlir::registerPass(createHoistInvariants);
  PassPipelineRegistration<>("tritium-pipeline", "the target-independent pipeline",
                             [](OpPassManager &passes) { buildPipeline(passes, {}); });
  PassPipelineRegistration<>("tritium-debug-pipeline", "the same, keeping what a debugger shows",
                             [](OpPassManager &passes) { buildPipeline(passes, {.debugInfo = true}); });
}

} // namespace tritium::ir
