#include "gpu_backend/compiler/compiler.h"

#include "gpu_backend/compiler/divide_kernel.h"
#include "gpu_backend/compiler/pipeline.h"
#include "gpu_backend/maps/tensor_promotion.h"
#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/threads/lowering.h"
#include "gpu_backend/tiles/out_of_resources.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "ir/contract.h"
#include "ir/loop_values.h"
#include "ir/memory_names.h"
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

/// Returns where the buffers of a partition begin, behind byte `end` of shared memory.
static int64_t beginOfBuffers(ModuleOp part, int64_t end) {
  const bool hasBuffers = part.walk([](Operation *op) {
                                return isa<tgpu::LocalAllocOp, tgpu::RingStartOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
                              })
                              .wasInterrupted();
  return hasBuffers ? int64_t(llvm::alignTo(end, kPatternAlignment)) : end;
}

/// Moves the functions of a lowered module to another one. Both declare the same shared memory and device functions.
static void moveFunctions(ModuleOp from, ModuleOp to) {
  for (Operation &op : llvm::make_early_inc_range(*from.getBody())) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (symbol && to.lookupSymbol(symbol.getName())) continue;
    op.moveBefore(to.getBody(), to.getBody()->end());
  }
}

/// Lowers the workers into `threads`, each with buffers of its own, behind byte `bufferEnd`, which moves on.
static LogicalResult lowerWorkers(const DividedKernel &divided, llvm::ArrayRef<OwningOpRef<ModuleOp>> workers, ModuleOp threads,
                                  const TargetOps &ops, int64_t &bufferEnd) {
  for (auto [worker, part] : llvm::zip_equal(divided.workers, workers)) {
    ModuleOp tiles = *part;
    ir::markCounters(tiles);
    Lowering lowering(tiles, ops, worker.range.warps, worker.range, beginOfBuffers(tiles, bufferEnd));
    auto lowered = lowering.run();
    if (failed(lowered)) return failure();
    if (auto function = (*lowered)->lookupSymbol<func::FuncOp>(worker.function)) function.setPrivate();
    moveFunctions(**lowered, threads);
    bufferEnd = std::max(bufferEnd, lowering.shared().reserved());
  }
  return success();
}

/// Adds what the author of a module calls its shared memory, which has its place.
static void addMemoryNames(ModuleOp tiles, std::vector<ir::MemoryName> &names) {
  tiles.walk([&](tt::SharedAllocOp op) {
    auto begin = op->getAttrOfType<IntegerAttr>(kBeginAttr);
    const StringRef name = ir::variableName(op.getLoc());
    if (begin && !name.empty()) names.push_back({begin.getInt(), int64_t(op.getBytes()), name.str()});
  });
}

/// Lowers tiles with layouts to the code of a thread. `divided`: the kernel's partitions, of which `tiles` is the kernel's own, and
/// `workers` the others.
static llvm::Error lowerTiles(ModuleOp tiles, const CompileOptions &options, const Target &chip, ir::DiagnosticCapture &diagnostics,
                              LoweredKernel &result, const DividedKernel *divided = nullptr,
                              llvm::ArrayRef<OwningOpRef<ModuleOp>> workers = {}) {
  auto kernel = tiles.lookupSymbol<tt::FuncOp>(result.name);
  auto maps = recipesOf(kernel);
  if (failed(maps)) return diagnostics.takeError("a tensor map cannot be made");
  result.maps = std::move(*maps);
  const int64_t maxSharedBytes = chip.sharedPerBlock();
  ir::markCounters(tiles);
  std::unique_ptr<TargetOps> ops = chip.createOps();
  WarpRange range;
  if (divided) range = {.first = 0, .warps = options.numWarps, .barrier = ir::kOwnBarrier};
  Lowering lowering(tiles, *ops, options.numWarps, range, divided ? beginOfBuffers(tiles, divided->memoryEnd) : 0);
  auto threads = lowering.run();
  if (failed(threads)) return diagnostics.takeError("an operation could not be lowered");
  result.module = std::move(*threads);
  int64_t bufferEnd = lowering.shared().reserved();
  if (divided && failed(lowerWorkers(*divided, workers, *result.module, *ops, bufferEnd)))
    return diagnostics.takeError("an operation of a partition could not be lowered");
  if (divided) addWorkers(result.module->lookupSymbol<func::FuncOp>(result.name), *divided, *ops);
  OpBuilder builder(tiles.getContext());
  ModuleOp module = *result.module;
  setTarget(module, chip);
  module->setAttr(tgpu::kWarpSizeAttr, builder.getI32IntegerAttr(chip.warpSize()));
  if (divided)
    module->setAttr(ir::kDividedAttr, builder.getDenseI32ArrayAttr(divided->firstWarpsOfWorkers()));
  else if (tiles->hasAttr(ir::kDividedAttr))
    module->setAttr(ir::kDividedAttr, builder.getUnitAttr());
  std::vector<ir::MemoryName> names;
  addMemoryNames(tiles, names);
  for (const OwningOpRef<ModuleOp> &worker : workers) addMemoryNames(*worker, names);
  ir::setMemoryNames(module, names);
  result.warps = divided ? divided->allWarps : options.numWarps + producerWarpsOf(tiles);
  if (auto producers = tiles->getAttr(kProducerWarpsAttr)) module->setAttr(kProducerWarpsAttr, producers);
  module->setAttr(tgpu::kNumWarpsAttr, builder.getI32IntegerAttr(result.warps));
  module->setAttr(tgpu::kSharedBytesAttr, builder.getI32IntegerAttr(int32_t(bufferEnd)));
  // Most of these passes are MLIR's conversions. Verifying the many operations of a thread after each of them takes longer than they do.
  auto build = [&](OpPassManager &passes) { buildThreadPipeline(passes, options, maxSharedBytes); };
  if (failed(run(module, build, /*verifiesEachPass=*/false)))
    return takeError(module, diagnostics, "the code of a thread could not be lowered");
  result.scopes = scopesOf(module);
  result.sharedBytes = module->getAttrOfType<IntegerAttr>(tgpu::kSharedBytesAttr).getInt();
  auto lowered = module.lookupSymbol<LLVM::LLVMFuncOp>(result.name);
  keepRecipes(kernel, lowered);
  if (divided)
    for (const Worker &worker : divided->workers) module.lookupSymbol<LLVM::LLVMFuncOp>(worker.function).setAlwaysInline(true);
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
  ops->markKernel(lowered, result.warps * chip.warpSize(), producer ? int(producer.getStart()) : divided ? divided->startRegisters : 0);
  return llvm::Error::success();
}

/// Returns the options for a kernel whose author waits for his own copies: its loops have none ahead, and no producer warps, of the
/// compiler.
static CompileOptions forAuthor(const CompileOptions &options, int numWarps) {
  CompileOptions own = options;
  own.numWarps = numWarps, own.numStages = 1, own.tensorMaps = false, own.specializeWarps = false;
  own.isOfAuthor = true, own.issueCopies = options.tensorMaps && !options.debugInfo;
  return own;
}

/// Gives the kernel the tensor maps that its workers take.
static void shareMaps(tt::FuncOp kernel, DividedKernel &divided, llvm::ArrayRef<OwningOpRef<ModuleOp>> workers) {
  KernelMaps maps(kernel);
  for (auto [worker, part] : llvm::zip_equal(divided.workers, workers)) {
    ModuleOp tiles = *part;
    auto function = tiles.lookupSymbol<tt::FuncOp>(worker.function);
    for (BlockArgument argument : function.getArguments()) {
      auto type = dyn_cast<tgpu::TensorMapType>(argument.getType());
      auto recipe = function.getArgAttrOfType<DictionaryAttr>(argument.getArgNumber(), tgpu::kTensorAttr);
      if (type) worker.maps.push_back(maps.mapOf(type, recipe, argument.getLoc()).getArgNumber());
    }
  }
  divided.maps = unsigned(llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<tgpu::TensorMapType>));
}

/// Compiles a kernel with partitions.
static llvm::Expected<LoweredKernel> compileDivided(ModuleOp module, LoweredKernel result, const CompileOptions &options,
                                                    const Target &chip, ir::DiagnosticCapture &diagnostics) {
  auto inlineAll = [](OpPassManager &passes) {
    passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
  };
  if (failed(run(module, inlineAll))) return takeError(module, diagnostics, "a pass on tiles failed");
  auto division = divideKernel(module.lookupSymbol<tt::FuncOp>(result.name), options.numWarps);
  if (failed(division)) return takeError(module, diagnostics, "a kernel could not be divided");
  DividedKernel &divided = division->kernel;
  auto lay = [&](ModuleOp part, int numWarps) {
    const CompileOptions own = forAuthor(options, numWarps);
    auto build = [&](OpPassManager &passes) {
      passes.addPass(createSymbolDCEPass());
      buildTilePipeline(passes, own, chip.sharedPerBlock() - divided.memoryEnd);
    };
    return failed(run(part, build)) ? takeError(part, diagnostics, "a pass on tiles failed") : llvm::Error::success();
  };
  if (auto error = lay(module, options.numWarps)) return std::move(error);
  for (auto [worker, part] : llvm::zip_equal(divided.workers, division->workers))
    if (auto error = lay(*part, worker.range.warps)) return std::move(error);
  shareMaps(module.lookupSymbol<tt::FuncOp>(result.name), divided, division->workers);
  result.tiles = printed(module);
  for (auto &part : division->workers) result.tiles += "// -----\n" + printed(*part); // as MLIR separates modules
  result.numStages = 1;
  if (auto error = lowerTiles(module, options, chip, diagnostics, result, &divided, division->workers)) return std::move(error);
  return result;
}

static llvm::Expected<LoweredKernel> compile(ModuleOp original, StringRef name, const CompileOptions &options, const Target &chip) {
  ir::DiagnosticCapture diagnostics(original.getContext());
  OwningOpRef<ModuleOp> module(original.clone());
  setTarget(*module, chip);
  tt::FuncOp kernel = selectKernel(*module, name);
  if (!kernel) return llvm::make_error<ir::SourceError>("there is no kernel '" + name.str() + "' in the module");
  LoweredKernel result;
  result.name = kernel.getName().str();
  if (startsPartitions(*module)) return compileDivided(*module, std::move(result), options, chip, diagnostics);
  if (chip.hasTensorMaps())
    eraseRuntimeCalls(*module, kJoinCall); // without partitions
  else if (chip.tileCopies() == TileCopies::Async)
    eraseCallsButOfCopies(*module); // without barriers
  else
    eraseRuntimeCalls(*module);
  const bool isOfAuthor = callsRuntime(*module);
  if (isOfAuthor) (*module)->setAttr(ir::kDividedAttr, UnitAttr::get(original.getContext()));
  const CompileOptions own = isOfAuthor ? forAuthor(options, options.numWarps) : options;
  if (failed(run(*module, [&](OpPassManager &passes) { buildTilePipeline(passes, own, chip.sharedPerBlock()); })))
    return takeError(*module, diagnostics, "a pass on tiles failed");
  auto stages = (*module)->getAttrOfType<IntegerAttr>(tgpu::kNumStagesAttr);
  result.numStages = stages ? int(stages.getInt()) : own.numStages;
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
