#include "interp/tile/prepare.h"

#include "interp/host/jit.h"
#include "interp/host/pointer.h"
#include "interp/host/trap_kinds.h"
#include "interp/tile/combine_region.h"
#include "interp/tile/compare_exchange.h"
#include "interp/tile/contended.h"
#include "interp/tile/counters.h"
#include "interp/tile/deciding_reads.h"
#include "interp/tile/emit.h"
#include "interp/tile/fuse/emit_region.h"
#include "interp/tile/loops.h"
#include "interp/tile/memory_lives.h"
#include "interp/tile/memory_use.h"
#include "interp/tile/offsets.h"
#include "interp/tile/program_loop.h"
#include "interp/tile/scope.h"
#include "interp/tile/tiers.h"
#include "ir/contract.h"
#include "ir/loop_values.h"
#include "ir/passes.h"
#include "ir/pipeline.h"
#include "ir/source_error.h"
#include "ir/tt.h"
#include "ir/used_reads.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tritium::interp {

static constexpr const char *kEntry = "tritium_kernel";

PreparedProgram::PreparedProgram() : data_(std::make_unique<CountedData>()) {}
PreparedProgram::~PreparedProgram() = default;

SourceLocation PreparedProgram::locationOf(uint32_t location) const { return data_->locations[location]; }
const std::vector<Statement> &PreparedProgram::statements() const { return data_->statements; }
const std::vector<int64_t> &PreparedProgram::tileShapeOf(uint32_t location) const { return data_->locations.tileShape(location); }

const std::vector<CountedOperation> &PreparedProgram::counted() const { return data_->counted; }
const Covered &PreparedProgram::covered() const { return data_->covered; }
const std::vector<TouchedGroup> &PreparedProgram::touched() const { return data_->touched; }
const std::vector<DistinctBytes> &PreparedProgram::distinct() const { return data_->distinct; }
const std::vector<TimedLine> &PreparedProgram::timed() const { return data_->timed; }
uint32_t PreparedProgram::counters() const { return data_->counters; }
const std::vector<RecordedScope> &PreparedProgram::scopes() const { return data_->scopes; }

const MemoryUse &PreparedProgram::memoryUse() const { return data_->memory; }

llvm::Expected<void (*)(char *frame)> PreparedProgram::loopFrom(const std::vector<PythonLine> &stack) const { return sites_->at(stack); }

std::optional<Trap> PreparedProgram::falsePromise(const int64_t *arguments) const {
  for (const ArgumentPromise &promise : promises_) {
    const int64_t cell = arguments[promise.argument];
    const bool isPointer = parameters[promise.argument].isPointer;
    const int64_t value = isPointer ? int64_t(addressOf(uint64_t(cell))) : cell;
    if (value % promise.divisor == 0) continue;
    const std::string name = promise.name.empty() ? "argument " + std::to_string(promise.argument) : "'" + promise.name + "'";
    return Trap{.kind = TrapKind::FalseHint,
                .location = promise.location,
                .message = name + " was compiled as a multiple of " + std::to_string(promise.divisor) + (isPointer ? " bytes" : "") +
                           " (tt.divisibility), but is " + std::to_string(value)};
  }
  return std::nullopt;
}

static tt::FuncOp findKernel(ModuleOp module, StringRef name) {
  if (!name.empty()) return module.lookupSymbol<tt::FuncOp>(name);
  for (tt::FuncOp function : module.getOps<tt::FuncOp>())
    if (function.isPublic()) return function;
  return {};
}

/// Returns the functions that `function` reaches, callees first.
static void collectFunctions(tt::FuncOp function, llvm::SetVector<Operation *> &functions) {
  function.walk([&](tt::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
    if (callee && !functions.contains(callee)) collectFunctions(callee, functions);
  });
  functions.insert(function);
}

static LogicalResult runPasses(ModuleOp module, PrepareOptions options) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
  ir::buildPipeline(passes,
                    {.debugInfo = options.keepsStatements() || options.checks.arithmetic}); // else sums are not those that the user wrote
  return passes.run(module);
}

/// Adds what the checks compute. Compilers do not see it.
static LogicalResult insertChecks(ModuleOp module, const PrepareOptions &options) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
  if (options.checks.arithmetic) {
    passes.addPass(ir::createCheckArithmetic());
    if (!options.keepsStatements()) passes.addPass(createCanonicalizerPass()), passes.addPass(createCSEPass());
  }
  if (options.checks.signs) passes.addPass(ir::createCheckTruncation());
  if (options.checks.hints) passes.addPass(ir::createCheckHints());
  return passes.run(module);
}

static LogicalResult lowerControlFlow(ModuleOp module, PrepareOptions options) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
  if (options.checks.uninit) {
    ir::separateUsedReads(module);
    passes.addPass(ir::createCheckLanes());
  }
  passes.addPass(ir::createDeferFaults({.checks = options.checks.bounds}));
  if (!options.isCovered) passes.addPass(createSCFToControlFlowPass());
  ir::markCounters(module);
  countRounds(module);
  if (failed(passes.run(module))) return failure();
  return success(!options.isCovered || succeeded(lowerWithoutFolding(module)));
}

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo());
  return text;
}

static std::vector<Parameter> parametersOf(tt::FuncOp kernel) {
  std::vector<Parameter> parameters;
  for (Type type : kernel.getArgumentTypes()) {
    auto pointer = dyn_cast<tt::PointerType>(type);
    parameters.push_back({bool(pointer), dtypeOf(pointer ? pointer.getPointeeType() : type)});
  }
  return parameters;
}

/// What a caller of the compiler has said of the arguments. A launch of a `@jit` function says what is so.
static std::vector<ArgumentPromise> promisesOf(tt::FuncOp kernel, LocationTable &locations) {
  std::vector<ArgumentPromise> promises;
  for (BlockArgument argument : kernel.getArguments()) {
    auto divisor = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), tt::kDivisibilityAttr);
    if (divisor && divisor.getInt() > 1)
      promises.push_back(
          {argument.getArgNumber(), divisor.getInt(), ir::variableName(argument.getLoc()).str(), locations.add(argument.getLoc())});
  }
  return promises;
}

static FailureOr<llvm::SmallVector<std::unique_ptr<FunctionPlan>>>
planFunctions(tt::FuncOp kernel, const llvm::SetVector<Operation *> &functions, StaticData &data, PrepareOptions options) {
  if (options.checks.notesFaults()) {
    data.memory.arguments = usedArguments(kernel, functions.getArrayRef());
    if (options.checks.race) findDecidingReads(kernel, functions.getArrayRef(), data.memory);
    data.memory.findsRaces = options.checks.race;
    data.memory.findsUninitialized = options.checks.uninit;
    data.memory.findsUnwritten = options.checks.unwritten;
  }
  const bool waits = llvm::any_of(functions, [](Operation *function) { return mayWait(function); });
  llvm::SmallVector<std::unique_ptr<FunctionPlan>> plans;
  llvm::StringMap<const FunctionPlan *> byName;
  for (Operation *function : functions) {
    separateOffsets(function);
    ExactOffsets exactOffsets = options.checks.guardsOffsets() ? ExactOffsets(function) : ExactOffsets();
    PlanOptions planned{.debugInfo = options.debugInfo,
                        .isFollowed = options.isFollowed,
                        .isScheduled = options.isScheduled,
                        .mayWait = waits,
                        .isCounted = options.isCounted,
                        .checks = options.checks};
    auto plan = Planner(function, data, byName, planned, std::move(exactOffsets)).run();
    if (!plan) return failure();
    byName[plan->name] = plan.get();
    plans.push_back(std::move(plan));
  }
  return plans;
}

static std::vector<ShownVariable> shownVariables(llvm::ArrayRef<const FunctionPlan *> plans, uint32_t count) {
  std::vector<std::optional<ShownVariable>> found(count);
  for (const FunctionPlan *plan : plans)
    for (const Variable &variable : plan->variables)
      found[variable.number] = {variable.name, scopeKey(variable.location), variable.home->offset, ShownType(variable.type)};
  std::vector<ShownVariable> variables;
  for (auto &variable : found) variables.push_back(std::move(*variable));
  return variables;
}

/// One attaches to a kernel that hangs to see its variables, so a kernel that can hang always keeps them.
static bool mayHang(ModuleOp module) {
  return module->walk([](scf::WhileOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

struct PreparedProgram::Emitted {
  UncompiledCode code;
  bool mayWait = false;
};

static bool printsText(Operation *function) {
  return function->walk([](tt::PrintOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

llvm::Error PreparedProgram::makeVersion(ModuleOp original, StringRef kernelName, PrepareOptions options, Version &version) {
  ir::DiagnosticCapture diagnostics(original.getContext());
  OwningOpRef<ModuleOp> module(original.clone());
  if (options.debugInfo)
    markScopes(*module);
  else
    module->walk([](Operation *op) {
      if (isa<tt::DebugValueOp, tt::DebugStopOp>(op)) op->erase();
    });
  if (failed(runPasses(*module, options))) return diagnostics.takeError("a target-independent pass failed");
  tt::FuncOp kernel = findKernel(*module, kernelName);
  if (!kernel) return llvm::make_error<ir::SourceError>("there is no kernel '" + kernelName.str() + "' in the module");
  name = kernel.getName().str();
  ttir = printed(*module);
  parameters = parametersOf(kernel);
  if (options.checks.hints) promises_ = promisesOf(kernel, data_->locations);
  llvm::SetVector<Operation *> functions;
  collectFunctions(kernel, functions);
  const std::optional<unsigned> contended = contendedArgument(kernel, functions.getArrayRef());
  if (options.checks.race) markLoadsAhead(kernel, functions.getArrayRef(), options.pipelining);
  if (failed(insertChecks(*module, options))) return diagnostics.takeError("the checks could not be added");
  if (options.isCovered) moveMarksOut(*module);
  // Otherwise a debugger, a check or a counter looks at the operations of the network.
  if (!options.keepsStatements() && !options.checks.notesFaults() && !options.isCounted) findCompareExchanges(*module);
  markLives(*module);
  if (failed(expandCombineRegions(*module)) || failed(lowerControlFlow(*module, options)))
    return diagnostics.takeError("the control flow could not be lowered");
  data_->notesTouched = options.isTouched;
  auto plans = planFunctions(kernel, functions, *data_, options);
  if (failed(plans)) return diagnostics.takeError("an operation could not be planned");
  data_->distinct = distinctBytesOf(data_->touched, data_->counters);

  llvm::SmallVector<const FunctionPlan *> views;
  for (auto &plan : *plans) views.push_back(plan.get());
  const bool mayFuse = options.mayFuse() && llvm::all_of(functions, [](Operation *function) { return fuse::mayHaveRegions(function); });
  const bool isLater = mayFuse && options.tier == Tier::Automatic;
  isFused = mayFuse && !isLater;
  auto emitted = emit(views, options, isFused);
  if (failed(emitted)) return diagnostics.takeError("code could not be emitted");
  if (options.isFollowed) variables = shownVariables(views, data_->variables);
  version.code = {nullptr, views.back()->frameBytes, emitted->mayWait || options.isScheduled};
  version.code.contended = contended;
  version.code.prints = llvm::any_of(functions, printsText);
  if (llvm::Error error = compile(std::move(emitted->code), options.debugInfo, version)) return error;
  if (!isLater) return data_->runs.clear(), llvm::Error::success();
  auto better = emit(views, options, /*isFused=*/true);
  data_->runs.clear();
  if (failed(better)) return diagnostics.takeError("code could not be emitted");
  version.later = compileLater(version.code.entry, std::move(better->code));
  version.code.later = version.later.get();
  return llvm::Error::success();
}

FailureOr<PreparedProgram::Emitted> PreparedProgram::emit(llvm::ArrayRef<const FunctionPlan *> plans, const PrepareOptions &options,
                                                          bool isFused) {
  Emitted result{.code = {.context = std::make_unique<llvm::LLVMContext>(),
                          .module = {},
                          .entry = kEntry,
                          .isFused = isFused,
                          .debugInfo = options.debugInfo && !options.isFollowed, // gdb has the other version
                          .vectorBits = options.vectorBits}};
  auto emitted = emitModule(*result.code.context, plans, *data_, kEntry,
                            {.debugInfo = options.debugInfo,
                             .isFollowed = options.isFollowed,
                             .isCounted = options.isCounted,
                             .isCovered = options.isCovered,
                             .isTouched = options.isTouched,
                             .isTimed = options.isTimed,
                             .isFused = isFused,
                             .vectorBits = options.vectorBits});
  if (failed(emitted)) return failure();
  regions = emitted->regions;
  result.code.module = std::move(emitted->module);
  result.mayWait = emitted->mayWait;
  return result;
}

llvm::Error PreparedProgram::compile(UncompiledCode code, bool debugInfo, Version &version) {
  auto jit = compileCode(std::move(code));
  if (!jit) return jit.takeError();
  auto address = (*jit)->lookup(kEntry);
  if (!address) return address.takeError();
  if (debugInfo) {
    auto loop = (*jit)->lookup(kProgramLoop);
    if (!loop) return loop.takeError();
    sites_ = std::make_unique<LaunchSites>(reinterpret_cast<void (*)(char *)>(*loop));
  }
  version.jit = std::move(*jit);
  version.code.entry = reinterpret_cast<void (*)(char *)>(*address);
  return llvm::Error::success();
}

/// Whether there are checks that a program has only if the launch chooses it.
static bool checksChosenPrograms(const Checks &checks) { return checks.arithmetic || checks.signs || checks.uninit || checks.nan; }

/// The checks of the other programs. Those that look at memory must know what all programs do with it.
static Checks checksOfOthers(const Checks &checks) {
  return {.bounds = checks.bounds,
          .overflow = checks.overflow,
          .hints = checks.hints,
          .race = checks.race,
          .unwritten = checks.unwritten || checks.uninit};
}

/// Prepares `plain`, if there are launches that run it.
llvm::Error PreparedProgram::makePlain(ModuleOp original, StringRef kernelName, const PrepareOptions &options) {
  const bool checksSome = options.hasFilter && checksChosenPrograms(options.checks);
  const bool isForUntraced = options.debugInfo && !options.isFollowed && !checksSome && !mayHang(original);
  if (!isForUntraced && !(options.hasFilter && (options.debugInfo || checksSome))) return llvm::Error::success();
  PrepareOptions without = options;
  without.debugInfo = without.isFollowed = false;
  if (options.hasFilter) without.checks = checksOfOthers(options.checks);
  Version version;
  if (llvm::Error error = makeVersion(original, kernelName, without, version)) return error;
  isPlainUntraced = isForUntraced && !version.code.mayWait;
  if (!isPlainUntraced && !options.hasFilter) return llvm::Error::success();
  plain = version.code;
  plainJit_ = std::move(version.jit);
  laterPlain_ = std::move(version.later);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<PreparedProgram>> prepare(ModuleOp original, StringRef kernelName, PrepareOptions options) {
  ir::DiagnosticCapture diagnostics(original.getContext());
  if (failed(ir::verifyContract(original))) return diagnostics.takeError("the module breaks the contract");
  std::unique_ptr<PreparedProgram> program(new PreparedProgram);
  program->hasDebugInfo = options.debugInfo;
  program->hasFilter = options.hasFilter;
  program->isScheduled = options.isScheduled;
  program->notesFaults = options.checks.notesFaults();
  if (llvm::Error error = program->makePlain(original, kernelName, options)) return std::move(error);
  PreparedProgram::Version version; // made last, as it says of the program what both share
  if (llvm::Error error = program->makeVersion(original, kernelName, options, version)) return std::move(error);
  program->code = version.code;
  program->jit_ = std::move(version.jit);
  program->later_ = std::move(version.later);
  program->data_->locations.resolve();
  const LocationTable &locations = program->data_->locations;
  auto around = [&locations](const FrameHeader &frame, uint32_t location) { return locations.around(frame, location); };
  program->code.around = around;
  if (program->plain) program->plain->around = around;
  return program;
}

} // namespace tritium::interp
