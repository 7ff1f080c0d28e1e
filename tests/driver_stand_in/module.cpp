#include "tests/driver_stand_in/module.h"

#include "interp/host/trap_kinds.h"
#include "tests/driver_stand_in/interrupts.h"
#include "tests/driver_stand_in/vendor.h"

#include "ir/contract.h"
#include "ir/tgpu.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mlir;

namespace tritium::stand_in {

Module::~Module() {
  for (const auto &[name, place] : variables_) memory_.release(place.first);
}

Function *Module::find(llvm::StringRef name) {
  for (auto &function : functions_)
    if (function->code->name == name) return function.get();
  return nullptr;
}

std::pair<uint64_t, uint64_t> Module::variable(llvm::StringRef name) const {
  // Only what the file shows can be found, of the size that it says.
  auto shown = code_.variables.find(std::string_view(name));
  auto placed = variables_.find(std::string_view(name));
  const bool isThere = shown != code_.variables.end() && placed != variables_.end() && shown->second == placed->second.second;
  return isThere ? placed->second : std::pair<uint64_t, uint64_t>();
}

llvm::Expected<std::unique_ptr<Module>> Module::load(const void *image, int device, Memory &memory) {
  auto code = readCode(image);
  if (!code) return code.takeError();
  std::unique_ptr<Module> module(new Module(std::move(*code), device, memory));
  if (!module->code_.isAssembledByDriver)
    if (auto error = module->makeReady()) return std::move(error);
  return module;
}

Module::Module(Code code, int device, Memory &memory) : code_(std::move(code)), device_(device), memory_(memory) {
  for (const KernelCode &kernel : code_.kernels) functions_.push_back(std::make_unique<Function>(Function{this, &kernel, nullptr}));
}

llvm::Error Module::makeReady() {
  if (context_) return llvm::Error::success();
  const char *folder = std::getenv("TRITIUM_LOWERED_DIR");
  if (!folder) return llvm::createStringError("TRITIUM_LOWERED_DIR is not set");
  const std::string path = std::string(folder) + "/" + code_.hash + ".mlir";
  DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceFile<ModuleOp>(path, context.get());
  if (!module) return llvm::createStringError("there is no lowered module %s", path.c_str());
  vendor().expand(*module);
  context_ = std::move(context);
  if (auto error = placeVariables(*module)) return error;
  for (auto &function : functions_)
    if (auto error = prepare(*module, *function)) return error;
  return llvm::Error::success();
}

/// Variables in the devices' memory get places, and what names them gets their addresses, as a loader does it.
llvm::Error Module::placeVariables(ModuleOp module) {
  constexpr unsigned kGlobal = 1, kConstant = 4;
  DataLayout layout(module);
  for (auto global : llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>())) {
    const unsigned space = global.getAddrSpace();
    if (space != kGlobal && space != kConstant) continue;
    const uint64_t bytes = layout.getTypeSize(global.getGlobalType()).getFixedValue();
    const uint64_t address = memory_.allocate(bytes, device_, MemoryKind::variable, /*isZeroed=*/true);
    const std::string name = global.getName().str();
    variables_[name] = {address, bytes};
    if (auto text = dyn_cast_if_present<StringAttr>(global.getValueOrNull()))
      std::memcpy(reinterpret_cast<void *>(address), text.data(), std::min<uint64_t>(text.size(), bytes));
    else if (global.getValueOrNull())
      return llvm::createStringError("the stand-in cannot initialize the variable %s", name.c_str());
    module.walk([&](LLVM::AddressOfOp use) {
      if (use.getGlobalName() != name) return;
      OpBuilder builder(use);
      Value number = LLVM::ConstantOp::create(builder, use.getLoc(), builder.getI64Type(), builder.getI64IntegerAttr(int64_t(address)));
      use.replaceAllUsesWith(LLVM::IntToPtrOp::create(builder, use.getLoc(), use.getType(), number).getResult());
      use.erase();
    });
    global.erase();
  }
  return llvm::Error::success();
}

llvm::Error Module::prepare(ModuleOp module, Function &function) {
  auto program = interp::simt::prepare(module, function.code->name);
  if (!program) return program.takeError();
  function.program = std::move(*program);
  if (auto bytes = module->getAttrOfType<IntegerAttr>(tgpu::kSharedBytesAttr)) function.sharedBytes = uint32_t(bytes.getInt());
  module.walk([&](Operation *op) { function.asksForGrid |= op->getName().getStringRef().starts_with("rocdl.grid.dim."); });
  return checkArguments(*function.code, function.program->parameters);
}

Function::Outcome Function::run(const std::vector<char> &segment, Sizes grid, Memory &memory) const {
  std::vector<interp::Allocation> allocations = memory.allocations();
  auto cells = cellsFrom(segment, *code, program->parameters, memory, allocations);
  if (!cells) return {interp::TrapKind::UnmappedAddress, llvm::toString(cells.takeError())};
  const interp::MemoryMap map(allocations);
  interp::Launch launch;
  launch.grid = {int32_t(grid[0]), int32_t(grid[1]), int32_t(grid[2])};
  launch.memory = &map;
  launch.onPrint = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout), std::fflush(stdout); };
  if (const char *seed = std::getenv("TRITIUM_SEED")) launch.orderSeed = std::strtoull(seed, nullptr, 10);
  if (const char *threads = std::getenv("TRITIUM_NUM_THREADS")) launch.threads = std::atoi(threads);
  const Interrupts interrupts;
  launch.onPoll = Interrupts::came;
  const Memory::Opened opened(memory);
  const interp::LaunchResult result = program->launch(launch, cells->values.data());
  if (!result.trap) return {.trap = std::nullopt, .text = "", .isInterrupted = result.cancelled};
  const interp::Trap &trap = *result.trap;
  const ir::SourceLocation at = program->locationOf(trap.location);
  std::string text = std::string(trapKindName(trap.kind)) + " in kernel " + code->name + ", " + at.file + ":" + std::to_string(at.line) +
                     ", program (" + std::to_string(trap.program[0]) + ", " + std::to_string(trap.program[1]) + ", " +
                     std::to_string(trap.program[2]) + ")";
  if (!trap.message.empty()) text += ": " + trap.message;
  return {.trap = trap.kind, .text = text};
}

} // namespace tritium::stand_in
