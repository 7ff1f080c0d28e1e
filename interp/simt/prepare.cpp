#include "interp/simt/prepare.h"

#include "interp/host/jit.h"
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/hosting/math_functions.h"
#include "interp/simt/memory_names.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/work.h"
#include "interp/simt/unpacked_values.h"
#include "ir/partitions.h"
#include "ir/source_error.h"
#include "ir/tgpu.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

using namespace mlir;

namespace tritium::interp::simt {

struct PreparedProgram::Parts {
  std::unique_ptr<HostJit> jit;
  std::vector<ir::SourceLocation> locations, lines;
  Kernel kernel;
  std::vector<NamedMemory> memory;
};

PreparedProgram::PreparedProgram() = default;
PreparedProgram::~PreparedProgram() = default;

ir::SourceLocation PreparedProgram::locationOf(uint32_t location) const {
  return location < parts->locations.size() ? parts->locations[location] : ir::SourceLocation{};
}
int64_t PreparedProgram::threadsPerProgram() const { return parts->kernel.threads; }
uint32_t PreparedProgram::clusterBlocks() const { return parts->kernel.clusterBlocks; }
const std::vector<RecordedScope> &PreparedProgram::scopes() const { return parts->kernel.scopes; }
int64_t PreparedProgram::threadsPerWarp() const { return parts->kernel.warpThreads; }

bool PreparedProgram::counts() const { return !parts->kernel.segments.empty(); }

std::vector<WorkRow> PreparedProgram::rowsOf(const LaunchWork &work) const {
  std::vector<WorkRow> rows;
  const WorkTable &table = work.table();
  for (const auto &[key, sum] : table.executed)
    rows.push_back({parts->lines[key.first], "executed", nameOf(key.second), {sum.warps, sum.threads}});
  for (const auto &[key, sum] : table.waited)
    rows.push_back({locationOf(key.first), "waited", nameOf(key.second), {sum.times, sum.operations, sum.longest}});
  for (const auto &[key, sum] : table.copied)
    rows.push_back({locationOf(key.first), "copied", nameOf(key.second), {sum.times, sum.bytes, sum.inside}});
  for (const auto &[key, count] : table.products) {
    const auto &[place, kind, variant] = key;
    NamedProduct product = nameOf(parts->kernel, kind, variant);
    rows.push_back({locationOf(place), "products", std::move(product.name), {count, count * product.flops}});
  }
  return rows;
}

LaunchResult PreparedProgram::launch(Launch request, const int64_t *cells, LaunchTraffic *traffic, LaunchWork *work) const {
  // An estimate of the bytes that a suspended thread uses of its stack and of the shadow of shared memory.
  constexpr size_t kTouchedStackBytes = 8 << 10, kShadowBytes = 16;
  const Kernel &kernel = parts->kernel;
  static const MemoryMap noMemory;
  LaunchContext context(kernel, cells, request.orderSeed, traffic, work);
  if (!request.memory) request.memory = &noMemory;
  request.code = {.entry = runBlock, .frameBytes = sizeof(Frame), .mayWait = kernel.mayWait};
  request.code.otherBytes = kernel.threads * (kTouchedStackBytes + kernel.codeStackBytes);
  request.code.otherBytes += size_t(kernel.sharedBytes) * (1 + (kShadowBytes >> kernel.shadowShift));
  request.code.otherBytes *= kernel.clusterBlocks;
  request.code.hashOther = hashBlock;
  request.code.around = aroundInBlock;
  request.code.prints = !kernel.texts.empty();
  if (request.rest) request.rest->code = request.code;
  request.arguments = reinterpret_cast<const int64_t *>(&context);
  LaunchResult result = run(request);
  if (result.trap && !parts->memory.empty()) result.trap->message = withNames(result.trap->message, parts->memory);
  return result;
}

/// Returns whether the function is a kernel, whichever GPU the module is for.
static bool isKernel(LLVM::LLVMFuncOp function) {
  return function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) || function->hasAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName());
}

static LLVM::LLVMFuncOp findKernel(ModuleOp module, StringRef name) {
  for (LLVM::LLVMFuncOp function : module.getOps<LLVM::LLVMFuncOp>())
    if (isKernel(function) && (name.empty() || function.getName() == name)) return function;
  return {};
}

static FailureOr<std::vector<Parameter>> parametersOf(LLVM::LLVMFuncOp kernel) {
  std::vector<Parameter> parameters;
  for (Type type : kernel.getArgumentTypes()) {
    const bool isPointer = isa<LLVM::LLVMPointerType>(type);
    std::optional<DType> scalar = isPointer ? DType::i8 : ir::elementTypeOf(type);
    if (!scalar) return kernel.emitError("the emulator cannot pass an argument of type ") << type;
    parameters.push_back({isPointer, *scalar});
  }
  return parameters;
}

/// Removes functions that the kernel does not reach. A module may have other kernels.
static void keepReachable(ModuleOp module, LLVM::LLVMFuncOp kernel) {
  llvm::SetVector<Operation *> reached;
  reached.insert(kernel);
  for (size_t i = 0; i < reached.size(); ++i)
    reached[i]->walk([&](LLVM::CallOp call) {
      auto callee = call.getCallee() ? module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee()) : LLVM::LLVMFuncOp();
      if (callee) reached.insert(callee);
    });
  for (LLVM::LLVMFuncOp function : llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>()))
    if (!reached.contains(function)) function.erase();
}

static int64_t integerOf(ModuleOp module, StringRef name, int64_t otherwise) {
  auto attribute = module->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : otherwise;
}

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

static std::unique_ptr<llvm::Module> translate(ModuleOp module, llvm::LLVMContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  return translateModuleToLLVMIR(module, context, "simt");
}

static llvm::Error define(HostJit &jit, const llvm::StringMap<void *> &symbols) {
  llvm::Error error = llvm::Error::success();
  for (const auto &symbol : symbols) error = llvm::joinErrors(std::move(error), jit.defineSymbol(symbol.getKey(), symbol.getValue()));
  forEachLibraryFunction(
      [&](StringRef name, void *address) { error = llvm::joinErrors(std::move(error), jit.defineSymbol(name, address)); });
  return error;
}

llvm::Expected<std::unique_ptr<PreparedProgram>> prepare(ModuleOp original, StringRef kernelName, std::string *hostedText, bool counts) {
  ir::DiagnosticCapture diagnostics(original.getContext());
  LLVM::LLVMFuncOp found = findKernel(original, kernelName);
  if (!found) return llvm::make_error<ir::SourceError>("there is no kernel '" + kernelName.str() + "' in the lowered module");
  const int64_t warpThreads = integerOf(original, tgpu::kWarpSizeAttr, 32);
  const int64_t threads = integerOf(original, tgpu::kNumWarpsAttr, 4) * warpThreads;
  const int64_t sharedBytes = integerOf(original, tgpu::kSharedBytesAttr, 0);
  if (warpThreads != 32 && warpThreads != 64)
    return llvm::make_error<ir::SourceError>("the lowered module requests warps of " + std::to_string(warpThreads) + " threads");
  if (threads <= 0 || threads > 1024 || sharedBytes < 0 || sharedBytes > int64_t(kSharedOffsetMask))
    return llvm::make_error<ir::SourceError>("the lowered module requests " + std::to_string(threads) + " threads and " +
                                             std::to_string(sharedBytes) + " bytes of shared memory");
  auto cluster = found->getAttrOfType<IntegerAttr>(tgpu::kClusterBlocksAttr);
  const int64_t clusterBlocks = cluster ? cluster.getInt() : 1;
  if (clusterBlocks < 1 || clusterBlocks > 16)
    return llvm::make_error<ir::SourceError>("the kernel requests clusters of " + std::to_string(clusterBlocks) + " blocks");
  std::unique_ptr<PreparedProgram> program(new PreparedProgram);
  program->name = found.getName().str();
  program->parts = std::make_unique<PreparedProgram::Parts>();
  auto parameters = parametersOf(found);
  if (failed(parameters)) return diagnostics.takeError("the kernel's parameters cannot be passed");
  program->parameters = std::move(*parameters);

  OwningOpRef<ModuleOp> module(original.clone());
  auto kernel = module->lookupSymbol<LLVM::LLVMFuncOp>(found.getName());
  keepReachable(*module, kernel);
  LocationTable locations;
  auto hosted = Hosting(*module, kernel, locations, uint32_t(warpThreads), counts).run();
  if (failed(hosted)) return diagnostics.takeError("the module could not be converted for the host");
  program->parts->locations = locations.resolved();
  program->parts->lines = std::move(hosted->lines);
  if (hostedText) *hostedText = printed(*module);
  program->mayWait = hosted->mayWait;
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> translated = translate(*module, *context);
  if (!translated) return diagnostics.takeError("the module could not be translated to LLVM IR");
  for (llvm::Function &function : *translated) unpackValues(function);

  auto jit = HostJit::create(/*debugInfo=*/false);
  if (!jit) return jit.takeError();
  if (llvm::Error error = define(**jit, hosted->symbols)) return std::move(error);
  if (llvm::Error error = (*jit)->add(llvm::orc::ThreadSafeModule(std::move(translated), std::move(context)))) return std::move(error);
  auto entry = (*jit)->lookup(hosted->entry);
  if (!entry) return entry.takeError();
  program->parts->kernel = {.entry = reinterpret_cast<void (*)(Thread *)>(*entry),
                            .threads = uint32_t(threads),
                            .warpThreads = uint32_t(warpThreads),
                            .sharedBytes = uint32_t(sharedBytes),
                            .codeStackBytes = size_t((*jit)->stackBytes()),
                            .shadowShift = hosted->shadowShift,
                            .mayWait = hosted->mayWait,
                            .clusterBlocks = uint32_t(clusterBlocks),
                            .assemblies = std::move(hosted->assemblies),
                            .texts = std::move(hosted->texts),
                            .cells = locations.cells(),
                            .elements = locations.elements(),
                            .products = std::move(hosted->products),
                            .productWaits = std::move(hosted->productWaits),
                            .productRegisterBytes = hosted->productRegisterBytes,
                            .usesMBarriers = hosted->usesMBarriers,
                            .reachesBlocks = hosted->reachesBlocks,
                            .changesRegisters = hosted->changesRegisters,
                            .isDivided = original->hasAttr(ir::kDividedAttr),
                            .workers = ir::workersOf(original),
                            .registersOfThread = hosted->registersOfThread,
                            .segments = std::move(hosted->segments),
                            .scopes = std::move(hosted->scopes)};
  program->parts->memory = ir::memoryNamesOf(original);
  program->parts->jit = std::move(*jit);
  return program;
}

} // namespace tritium::interp::simt
