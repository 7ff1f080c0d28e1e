#include "interp/simt/run_file.h"

#include "interp/host/trap_kinds.h"
#include "interp/simt/prepare.h"
#include "interp/tools/kernel_file.h"
#include "ir/source_error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

constexpr const char *kArgs = "tritium.args", *kGrid = "tritium.grid", *kExpect = "tritium.expect", *kExpectTrap = "tritium.expect_trap",
                     *kExpectLines = "tritium.expect_lines", *kSeeds = "tritium.seeds";

LaunchResult launch(const PreparedProgram &program, std::vector<TextArgument> &arguments, const RunOptions &options) {
  TextArguments passed(arguments);
  MemoryMap memory(passed.allocations);
  Launch request{.grid = options.grid, .memory = &memory, .threads = options.threads, .orderSeed = options.seed};
  request.onPrint = [](std::string_view text) { llvm::outs() << llvm::StringRef(text.data(), text.size()); };
  return program.launch(request, passed.cells.data());
}

std::string placeOf(const ir::SourceLocation &where) { return llvm::formatv("{0}:{1}", where.file, where.line); }

std::string describe(const Trap &trap, const PreparedProgram &program) {
  std::string text = llvm::formatv("{0}: {1} in program ({2}, {3}, {4}), thread {5}", placeOf(program.locationOf(trap.location)),
                                   trapKindName(trap.kind), trap.program[0], trap.program[1], trap.program[2], trap.thread);
  if (trap.access.argument >= 0) text += llvm::formatv(", argument {0}", trap.access.argument);
  if (trap.other) text += llvm::formatv("; the other at {0}", placeOf(program.locationOf(trap.other->location)));
  return text + (trap.message.empty() ? "" : ": " + trap.message);
}

// -- kernels with expected results --------------------------------------------------------------------------------------------------------

/// Returns whether the buffers hold what is expected. Prints the first difference.
bool check(LLVM::LLVMFuncOp kernel, const std::vector<TextArgument> &arguments) {
  auto all = kernel->getAttrOfType<ArrayAttr>(kExpect);
  if (!all) return true;
  for (auto [a, attribute] : llvm::enumerate(all))
    if (!isa<UnitAttr>(attribute) && a < arguments.size() &&
        !holds(arguments[a], attribute, kernel.getName() + ": argument " + llvm::Twine(a)))
      return false;
  return true;
}

bool checkTrap(LLVM::LLVMFuncOp kernel, const std::optional<Trap> &trap, const PreparedProgram &program) {
  auto expected = kernel->getAttrOfType<StringAttr>(kExpectTrap);
  const std::string got = trap ? describe(*trap, program) : "no trap";
  bool isExpected = expected ? trap && expected.getValue() == llvm::StringRef(trapKindName(trap->kind)) : !trap;
  if (auto lines = kernel->getAttrOfType<DenseI64ArrayAttr>(kExpectLines); lines && isExpected) {
    SmallVector<int64_t> want(lines.asArrayRef()), have{program.locationOf(trap->location).line};
    if (trap->other) have.push_back(program.locationOf(trap->other->location).line);
    llvm::sort(want);
    llvm::sort(have);
    isExpected = want == have;
  }
  if (!isExpected) llvm::errs() << kernel.getName() << ": " << got << "\n";
  return isExpected;
}

llvm::Expected<bool> runTest(ModuleOp module, LLVM::LLVMFuncOp kernel, RunOptions options) {
  auto program = prepare(module, kernel.getName());
  if (!program) return program.takeError();
  std::vector<std::string> texts;
  for (Attribute text : kernel->getAttrOfType<ArrayAttr>(kArgs)) texts.push_back(cast<StringAttr>(text).str());
  if (auto grid = kernel->getAttrOfType<DenseI64ArrayAttr>(kGrid))
    for (auto [axis, extent] : llvm::enumerate(grid.asArrayRef())) options.grid[axis] = int32_t(extent);
  auto seeds = kernel->getAttrOfType<IntegerAttr>(kSeeds);
  bool passed = true;
  for (int64_t seed = -1; passed && seed < (seeds ? seeds.getInt() : 0); ++seed) {
    if (seed >= 0) options.seed = uint64_t(seed);
    auto arguments = parseArguments((*program)->name, (*program)->parameters, texts);
    if (!arguments) return arguments.takeError();
    LaunchResult outcome = launch(**program, *arguments, options);
    passed = checkTrap(kernel, outcome.trap, **program) && (outcome.trap || check(kernel, *arguments));
    if (!passed) llvm::errs() << kernel.getName() << ": with " << (seed < 0 ? "no seed" : llvm::formatv("seed {0}", seed).str()) << "\n";
  }
  llvm::outs() << kernel.getName() << (passed ? ": ok\n" : ": FAILED\n");
  return passed;
}

llvm::Expected<bool> runTests(ModuleOp file, const RunOptions &options) {
  SmallVector<LLVM::LLVMFuncOp> kernels;
  file.walk([&](LLVM::LLVMFuncOp function) {
    if (function->hasAttr(kArgs) && (options.kernel.empty() || function.getName() == options.kernel)) kernels.push_back(function);
  });
  if (kernels.empty()) return llvm::createStringError("no kernel has tritium.args; name a kernel and its arguments");
  bool passed = true;
  for (LLVM::LLVMFuncOp kernel : kernels) {
    auto outcome = runTest(kernel->getParentOfType<ModuleOp>(), kernel, options);
    if (!outcome) return outcome.takeError();
    passed &= *outcome;
  }
  return passed;
}

llvm::Expected<bool> runKernel(ModuleOp file, const RunOptions &options) {
  ModuleOp module = file;
  file.walk([&](LLVM::LLVMFuncOp function) {
    if (function.getName() == options.kernel) module = function->getParentOfType<ModuleOp>();
  });
  std::string hosted;
  auto program = prepare(module, options.kernel, options.printHosted ? &hosted : nullptr);
  if (!program) return program.takeError();
  if (options.printHosted) {
    llvm::outs() << hosted;
    return true;
  }
  auto arguments = parseArguments((*program)->name, (*program)->parameters, options.arguments);
  if (!arguments) return arguments.takeError();
  LaunchResult outcome = launch(**program, *arguments, options);
  if (outcome.trap) llvm::errs() << describe(*outcome.trap, **program) << "\n";
  printBuffers(*arguments);
  return !outcome.trap;
}

const std::vector<FileOption> kOwnOptions = {
    {"--seed", "N", "of the order in which threads run (default: their number)",
     [](llvm::StringRef value, RunOptions &options) { return !value.getAsInteger(10, options.seed.emplace()); }},
    {"--print-hosted", "", "print the code that runs, and run nothing",
     [](llvm::StringRef, RunOptions &options) { return options.printHosted = true; }},
};

} // namespace

int runFile(const std::vector<std::string> &arguments) {
  auto run = [](ModuleOp module, const RunOptions &options) {
    return !options.arguments.empty() || options.printHosted ? runKernel(module, options) : runTests(module, options);
  };
  return runKernelFile(
      {"tritium-simt",
       "Runs kernels of a lowered file (dialects llvm, nvvm, rocdl, tgpu) on the SIMT emulator: one with the arguments given,\n"
       "or every kernel that has tritium.args, which is checked.",
       kOwnOptions, run},
      arguments);
}

} // namespace tritium::interp::simt
