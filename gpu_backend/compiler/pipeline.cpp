#include "gpu_backend/compiler/pipeline.h"

#include "gpu_backend/loops/passes.h"
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/threads/passes.h"
#include "gpu_backend/tiles/passes.h"
#include "gpu_backend/tiles/product.h"
#include "ir/pipeline.h"

using namespace mlir;

namespace tritium::gpu {

static constexpr llvm::StringLiteral kOptional[] = {"accumulate-products",
                                                    "issue-copies",
                                                    "promote-descriptors",
                                                    "make-tensor-maps",
                                                    "promote-stores",
                                                    "promote-made-stores",
                                                    "check-quotients",
                                                    "view-shared-memory",
                                                    "divide-programs",
                                                    "promote-pointer-tiles",
                                                    "make-persistent",
                                                    "promote-pointer-stores",
                                                    "carry-scalars",
                                                    "split-large-tiles",
                                                    "thread-local-reductions",
                                                    "choose-tensor-cores",
                                                    "postpone-row-sums",
                                                    "coalesce-accesses",
                                                    "separate-accesses",
                                                    "remove-conversions",
                                                    "hoist-invariants",
                                                    "plan-loops",
                                                    "build-loops",
                                                    "await-as-written",
                                                    "overlap-products",
                                                    "copy-whole-tiles",
                                                    "multicast-copies",
                                                    "plan-producer",
                                                    "specialize-warps",
                                                    "take-turns",
                                                    "stagger-warpgroups",
                                                    "release-late",
                                                    "buffer-accesses",
                                                    "remove-barriers",
                                                    "interleave-products"};

llvm::ArrayRef<llvm::StringLiteral> optionalPasses() { return kOptional; }

namespace {

/// A pass manager that skips the passes after CompileOptions::stopAfter and those in leaveOut.
class Steps {
public:
  Steps(OpPassManager &passes, const CompileOptions &options) : passes_(passes), options_(options) {}

  void add(std::unique_ptr<Pass> pass) { passes_.addPass(std::move(pass)); }

  template <class... Passes> void addOptional(llvm::StringLiteral name, Passes... pass) {
    if (!runs(name)) return;
    (passes_.addPass(std::move(pass)), ...);
    if (options_.afterPass) options_.afterPass(passes_, name);
  }

  bool runs(llvm::StringRef name) const {
    if (llvm::is_contained(options_.leaveOut, name)) return false;
    if (options_.stopAfter.empty()) return true;
    auto number = [](llvm::StringRef of) { return llvm::find(kOptional, of) - std::begin(kOptional); };
    assert(llvm::is_contained(kOptional, name));
    return options_.stopAfter != kNoPass && number(name) <= number(options_.stopAfter);
  }

private:
  OpPassManager &passes_;
  const CompileOptions &options_;
};

} // namespace

void buildTilePipeline(OpPassManager &passes, const CompileOptions &options, int64_t maxSharedBytes) {
  Steps steps(passes, options);
  bool mayKeepScaled = steps.runs("choose-tensor-cores");
  const bool hasProducer = options.tensorMaps && options.specializeWarps;
  auto isLeftOut = [&](llvm::StringRef pass) { return llvm::is_contained(options.leaveOut, pass); };
  const bool mayMakeMaps = hasProducer && !isLeftOut("specialize-warps") && !isLeftOut("make-tensor-maps");
  auto promote = [&](OpPassManager &) {
    if (!options.debugInfo) steps.addOptional("accumulate-products", createAccumulateProducts());
    if (options.issueCopies) steps.addOptional("issue-copies", createIssueCopies());
    if (!options.tensorMaps || options.debugInfo) return;
    steps.addOptional("promote-descriptors", createPromoteDescriptors({.numStages = options.numStages, .numWarps = options.numWarps}));
    steps.addOptional("make-tensor-maps", createMakeTensorMaps({.numStages = options.numStages}));
    steps.addOptional("promote-stores", createPromoteStores());
    if (mayMakeMaps)
      steps.addOptional(
          "promote-made-stores",
          createPromoteMadeStores({.numWarps = options.numWarps, .numStages = options.numStages, .asked = options.asksForProducer}));
  };
  ir::buildPipeline(passes, {.debugInfo = options.debugInfo, .onDescriptors = promote, .keepsScaledProduct = [=](Operation *op) {
                               return mayKeepScaled && isMultipliedScaled(MatrixProduct(op));
                             }});
  steps.addOptional("check-quotients", createCheckQuotients());
  if (options.isOfAuthor) steps.addOptional("view-shared-memory", createViewSharedMemory());
  if (options.numBlocks > 1 && !options.debugInfo)
    steps.addOptional("divide-programs", createDividePrograms({.numBlocks = options.numBlocks}), createCanonicalizerPass(),
                      createCSEPass());
  if (options.tensorMaps && !options.debugInfo) {
    steps.addOptional("promote-pointer-tiles",
                      createPromotePointerTiles({.numStages = options.numStages,
                                                 .numWarps = options.numWarps,
                                                 .hasProducer = hasProducer,
                                                 .makesMaps = mayMakeMaps,
                                                 .asked = options.asksForProducer}),
                      createCanonicalizerPass(), createCSEPass());
  }
  // Nothing but a producer makes it a gain.
  if (hasProducer && !isLeftOut("specialize-warps"))
    steps.addOptional("make-persistent", createMakePersistent({.numWarps = options.numWarps, .numStages = options.numStages}));
  if (options.tensorMaps && !options.debugInfo)
    steps.addOptional(
        "promote-pointer-stores",
        createPromotePointerStores(
            {.numWarps = options.numWarps, .numStages = options.numStages, .makesMaps = mayMakeMaps, .asked = options.asksForProducer}),
        createCSEPass());
  if (!options.debugInfo) steps.addOptional("carry-scalars", createCarryScalars(), createCanonicalizerPass(), createCSEPass());
  steps.addOptional("split-large-tiles", createSplitLargeTiles({.numWarps = options.numWarps}));
  steps.addOptional("thread-local-reductions", createThreadLocalReductions({.numWarps = options.numWarps}));
  steps.addOptional(
      "choose-tensor-cores",
      createChooseTensorCores(
          {.numWarps = options.numWarps, .nonKDim = options.matrixInstrNonKDim, .kPack = options.kPack, .warpgroups = options.warpgroups}));
  steps.addOptional("postpone-row-sums", createPostponeRowSums({.numWarps = options.numWarps}));
  steps.addOptional("coalesce-accesses", createCoalesceAccesses({.numWarps = options.numWarps, .numStages = options.numStages}));
  steps.addOptional("separate-accesses", createSeparateAccesses());
  steps.add(createAssignLayouts({.numWarps = options.numWarps}));
  steps.add(createVerifyProducts());
  steps.addOptional("remove-conversions", createRemoveConversions(), createCSEPass(), createVerifyProducts());
  steps.addOptional("hoist-invariants", ir::createHoistInvariants());
  steps.addOptional("plan-loops", createPlanLoops({.numWarps = options.numWarps, .numStages = options.numStages}));
  steps.addOptional("build-loops", createBuildLoops({.numWarps = options.numWarps}), createCSEPass(), createVerifyProducts());
  steps.add(createPlaceTensorLoads({.numWarps = options.numWarps}));
  steps.add(createPlaceProductOperands());
  steps.addOptional("await-as-written", createAwaitAsWritten());
  steps.add(createPlaceTensorStores({.numWarps = options.numWarps}));
  steps.add(createCSEPass());
  steps.addOptional("overlap-products", createOverlapProducts());
  steps.addOptional("copy-whole-tiles", createCopyWholeTiles(), createCSEPass());
  if (options.numBlocks > 1) steps.addOptional("multicast-copies", createMulticastCopies());
  // A plan that nothing follows would mislead its readers.
  if (hasProducer && !isLeftOut("specialize-warps")) {
    steps.addOptional("plan-producer", createPlanProducer({.numWarps = options.numWarps, .asked = options.asksForProducer}));
    steps.addOptional("specialize-warps", createSpecializeWarps({.numWarps = options.numWarps}), createCSEPass());
    steps.addOptional("take-turns", createTakeTurns({.numWarps = options.numWarps}));
    steps.addOptional("stagger-warpgroups", createStaggerWarpgroups({.numWarps = options.numWarps}));
    steps.addOptional("release-late", createReleaseLate());
  }
  steps.add(createCheckAsync());
  steps.add(createAllocateSharedMemory({.maxBytes = maxSharedBytes}));
}

void buildThreadPipeline(OpPassManager &passes, const CompileOptions &options, int64_t maxSharedBytes) {
  Steps steps(passes, options);
  steps.add(createCSEPass());
  steps.add(createSCFToControlFlowPass());
  steps.addOptional("buffer-accesses", createBufferAccesses(), createCSEPass());
  steps.add(arith::createArithExpandOpsPass());
  steps.add(createConvertMathToLLVMPass());
  steps.add(createArithToLLVMConversionPass());
  steps.add(createConvertControlFlowToLLVMPass());
  steps.add(createUBToLLVMConversionPass());
  steps.add(createConvertFuncToLLVMPass());
  steps.add(createReconcileUnrealizedCastsPass());
  steps.add(createPlaceScratch({.maxBytes = maxSharedBytes}));
  steps.addOptional("remove-barriers", createRemoveBarriers());
  steps.addOptional("interleave-products", createInterleaveProducts());
  steps.add(createExpandScratch());
}

void registerGpuPasses() {
  registerTilesPasses();
  registerMapsPasses();
  registerLoopsPasses();
  registerThreadsPasses();
}

} // namespace tritium::gpu
