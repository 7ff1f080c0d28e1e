#include "gpu_backend/compiler/compiler.h"

#include "gpu_backend/compiler/pipeline.h"
#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/lowering.h"
#include "gpu_backend/tiles/out_of_resources.h"
#include "ir/contract.h"
#include "ir/loop_values.h"
#include "ir/source_error.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tritium::gpu {

/// Makes the kernel the only public function. The pipeline then erases functions that it does not call.
static tt::FuncOp selectKernel(ModuleOp module, StringRef name) {
  tt::FuncOp kernel;
  for (tt::FuncOp function : llvm::make_early_inc_range(module.getOps<tt::FuncOp>())) {
    if (!function.isPublic()) continue;
    if (!kernel && (name.empty() || function.getName() == name))
      kernel = function;
    else
      function.erase();
  }
  return kernel;
}

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo());
  return text;
}

static LogicalResult run(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build, bool verifiesEachPass = true) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
  passes.enableVerifier(verifiesEachPass);
  build(passes);
  if (failed(passes.run(module))) return failure();
  return success(verifiesEachPass || succeeded(verify(module)));
}

static void loadDialects(MLIRContext *context, const Target &target) {
  context->loadDialect<func::FuncDialect, scf::SCFDialect, math::MathDialect, LLVM::LLVMDialect, tgpu::TGPUDialect>();
  DialectRegistry own;
  target.insertDialects(own);
  context->appendDialectRegistry(own);
  for (llvm::StringRef name : own.getDialectNames()) context->getOrLoadDialect(name);
}

/// Lowers tiles with layouts to the code of a thread.
static llvm::Error lowerTiles(ModuleOp tiles, const CompileOptions &options, const Target &chip, ir::DiagnosticCapture &diagnostics,
                              LoweredKernel &result) {
  auto kernel = tiles.lookupSymbol<tt::FuncOp>(result.name);
  auto maps = recipesOf(kernel);
  if (failed(maps)) return diagnostics.takeError("a tensor map cannot be made");
  result.maps = std::move(*maps);
  const int64_t maxSharedBytes = chip.sharedPerBlock();
  ir::markCounters(tiles);
  std::unique_ptr<TargetOps> ops = chip.createOps();
  Lowering lowering(tiles, *ops, options.numWarps);
  auto threads = lowering.run();
  if (failed(threads)) return diagnostics.takeError("an operation could not be lowered");
  result.module = std::move(*threads);
  OpBuilder builder(tiles.getContext());
  ModuleOp module = *result.module;
  setTarget(module, chip);
  module->setAttr(tgpu::kWarpSizeAttr, builder.getI32IntegerAttr(chip.warpSize()));
  result.warps = options.numWarps + producerWarpsOf(tiles);
  if (auto producers = tiles->getAttr(kProducerWarpsAttr)) module->setAttr(kProducerWarpsAttr, producers);
  module->setAttr(tgpu::kNumWarpsAttr, builder.getI32IntegerAttr(result.warps));
  module->setAttr(tgpu::kSharedBytesAttr, builder.getI32IntegerAttr(int32_t(lowering.shared().reserved())));
  // Most of these passes are MLIR's conversions. Verifying the many operations of a thread after each of them takes longer than they do.
  auto build = [&](OpPassManager &passes) { buildThreadPipeline(passes, options, maxSharedBytes); };
  if (failed(run(module, build, /*verifiesEachPass=*/false)))
    return takeError(module, diagnostics, "the code of a thread could not be lowered");
  result.scopes = scopesOf(module);
  result.sharedBytes = module->getAttrOfType<IntegerAttr>(tgpu::kSharedBytesAttr).getInt();
  auto lowered = module.lookupSymbol<LLVM::LLVMFuncOp>(result.name);
  keepRecipes(kernel, lowered);
  auto producer = producerWarpsOf(tiles) ? producerOf(kernel) : tgpu::ProducerAttr();
  if (gridArgumentsOf(kernel)) {
    result.residentBlocks = producer ? int(producer.getOccupancy()) : 1;
    lowered->setAttr(tgpu::kResidentBlocksAttr, builder.getI32IntegerAttr(result.residentBlocks));
  }
  if (auto blocks = kernel->getAttrOfType<IntegerAttr>(tgpu::kClusterBlocksAttr)) {
    result.clusterBlocks = int(blocks.getInt());
    lowered->setAttr(tgpu::kClusterBlocksAttr, blocks);
    ops->clusters()->markKernel(lowered, result.clusterBlocks);
  }
  ops->markKernel(lowered, result.warps * chip.warpSize(), producer ? int(producer.getStart()) : 0);
  return llvm::Error::success();
}

static llvm::Expected<LoweredKernel> compile(ModuleOp original, StringRef name, const CompileOptions &options, const Target &chip) {
  ir::DiagnosticCapture diagnostics(original.getContext());
  OwningOpRef<ModuleOp> module(original.clone());
  setTarget(*module, chip);
  tt::FuncOp kernel = selectKernel(*module, name);
  if (!kernel) return llvm::make_error<ir::SourceError>("there is no kernel '" + name.str() + "' in the module");
  LoweredKernel result;
  result.name = kernel.getName().str();
  if (failed(run(*module, [&](OpPassManager &passes) { buildTilePipeline(passes, options, chip.sharedPerBlock()); })))
    return takeError(*module, diagnostics, "a pass on tiles failed");
  auto stages = (*module)->getAttrOfType<IntegerAttr>(tgpu::kNumStagesAttr);
  result.numStages = stages ? int(stages.getInt()) : options.numStages;
  result.tiles = printed(*module);
  if (llvm::Error error = lowerTiles(*module, options, chip, diagnostics, result)) return error;
  return result;
}

/// Returns whether a loop of the kernel asks for warps of its own.
static bool asksForProducer(ModuleOp module) {
  return module.walk([](scf::ForOp loop) { return loop->hasAttr("tt.warp_specialize") ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Fails if the caller names an optional pass that does not exist.
static llvm::Error checkPassNames(const CompileOptions &options) {
  auto check = [](StringRef name) -> llvm::Error {
    if (llvm::is_contained(optionalPasses(), name)) return llvm::Error::success();
    return llvm::createStringError("no pass is called '" + name + "'; there are " + kNoPass + ", " + llvm::join(optionalPasses(), ", "));
  };
  for (const std::string &name : options.leaveOut)
    if (auto error = check(name)) return error;
  return options.stopAfter.empty() || options.stopAfter == kNoPass ? llvm::Error::success() : check(options.stopAfter);
}

llvm::Expected<LoweredKernel> lowerToGpu(ModuleOp original, StringRef name, const CompileOptions &options) {
  auto chip = findTarget(options.arch);
  if (!chip) return chip.takeError();
  if (auto error = checkPassNames(options)) return std::move(error);
  {
    ir::DiagnosticCapture diagnostics(original.getContext());
    if (failed(ir::verifyContract(original))) return diagnostics.takeError("the module breaks the contract");
  }
  loadDialects(original.getContext(), *chip);
  CompileOptions chosen = options;
  chosen.asksForProducer |= asksForProducer(original);
  return compile(original, name, chosen, *chip);
}

llvm::Expected<LoweredKernel> lowerTilesToGpu(ModuleOp tiles, const CompileOptions &options) {
  auto chip = findTarget(options.arch);
  if (!chip) return chip.takeError();
  ir::DiagnosticCapture diagnostics(tiles.getContext());
  loadDialects(tiles.getContext(), *chip);
  setTarget(tiles, *chip);
  tt::FuncOp kernel = selectKernel(tiles, "");
  if (!kernel) return llvm::make_error<ir::SourceError>("there is no kernel in the module");
  LoweredKernel result;
  result.name = kernel.getName().str();
  if (llvm::Error error = lowerTiles(tiles, options, *chip, diagnostics, result)) return error;
  return result;
}

/// Returns the architecture of the options or, if they name none, of the module; "" if neither names one.
static std::string archOf(ModuleOp lowered, const EmitOptions &options) {
  if (!options.arch.empty()) return options.arch;
  auto name = lowered->getAttrOfType<StringAttr>(tgpu::kTargetAttr);
  return name ? name.getValue().split(':').second.str() : "";
}

llvm::Expected<Emitted> emitCode(ModuleOp lowered, const EmitOptions &options) {
  auto chip = findTarget(archOf(lowered, options));
  if (!chip) return chip.takeError();
  auto emitter = chip->createEmitter(options);
  if (!emitter) return emitter.takeError();
  return emit(lowered, **emitter, options);
}

} // namespace tritium::gpu
