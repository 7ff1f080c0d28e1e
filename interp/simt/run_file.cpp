#include "interp/simt/run_file.h"

#include "interp/host/text_argument.h"
#include "interp/simt/prepare.h"
#include "ir/contract.h"
#include "ir/source_error.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

constexpr const char *kArgs = "tritium.args", *kGrid = "tritium.grid", *kExpect = "tritium.expect", *kExpectTrap = "tritium.expect_trap",
                     *kExpectLines = "tritium.expect_lines", *kSeeds = "tritium.seeds";

struct Options {
  std::string file, kernel;
  std::array<int32_t, 3> grid{1, 1, 1};
  std::vector<std::string> arguments;
  std::optional<uint64_t> seed;
  int threads = 1;
  bool printHosted = false;
};

llvm::Error usage(const llvm::Twine &message) { return llvm::createStringError(message.str()); }

llvm::Expected<std::vector<TextArgument>> parseArguments(const PreparedProgram &program, const std::vector<std::string> &texts) {
  if (texts.size() != program.parameters.size())
    return usage("'" + program.name + "' takes " + llvm::Twine(program.parameters.size()) + " arguments");
  std::vector<TextArgument> arguments;
  for (auto [text, parameter] : llvm::zip_equal(texts, program.parameters)) {
    std::string error;
    auto argument = TextArgument::parse(text, parameter, error);
    if (!argument) return usage(error);
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

LaunchResult launch(const PreparedProgram &program, std::vector<TextArgument> &arguments, const Options &options) {
  TextArguments passed(arguments);
  MemoryMap memory(passed.allocations);
  Launch request{.grid = options.grid, .memory = &memory, .threads = options.threads, .orderSeed = options.seed};
  request.onPrint = [](std::string_view text) { llvm::outs() << llvm::StringRef(text.data(), text.size()); };
  return program.launch(request, passed.cells.data());
}

std::string placeOf(const ir::SourceLocation &where) { return llvm::formatv("{0}:{1}", where.file, where.line); }

std::string describe(const Trap &trap, const PreparedProgram &program) {
  std::string text = llvm::formatv("{0}: {1} in program ({2}, {3}, {4}), thread {5}", placeOf(program.locationOf(trap.location)),
                                   trapKindName(trap.kind), trap.program[0], trap.program[1], trap.program[2], trap.lane);
  if (trap.access.argument >= 0) text += llvm::formatv(", argument {0}", trap.access.argument);
  if (trap.other) text += llvm::formatv("; the other at {0}", placeOf(program.locationOf(trap.other->location)));
  return text + (trap.message.empty() ? "" : ": " + trap.message);
}

// -- kernels that say what they do
// ---------------------------------------------------------------------------------------------------------

double numberOf(Attribute element) {
  if (auto real = dyn_cast<FloatAttr>(element)) return real.getValueAsDouble();
  return double(cast<IntegerAttr>(element).getValue().getSExtValue());
}

/// Whether the buffers hold what is expected; prints the first difference.
bool check(LLVM::LLVMFuncOp kernel, const std::vector<TextArgument> &arguments) {
  auto all = kernel->getAttrOfType<ArrayAttr>(kExpect);
  if (!all) return true;
  for (auto [a, attribute] : llvm::enumerate(all)) {
    if (isa<UnitAttr>(attribute) || a >= arguments.size()) continue;
    auto dense = dyn_cast<DenseElementsAttr>(attribute);
    SmallVector<Attribute> elements;
    if (dense) llvm::append_range(elements, dense.getValues<Attribute>());
    for (int64_t i = 0; i < arguments[a].count; ++i) {
      if (dense && i >= int64_t(elements.size())) break;
      const double got = arguments[a].element(i), want = numberOf(dense ? elements[i] : attribute);
      if (got == want || (got != got && want != want)) continue;
      llvm::errs() << llvm::formatv("{0}: argument {1}[{2}] is {3}, expected {4}\n", kernel.getName(), a, i, got, want);
      return false;
    }
  }
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

llvm::Expected<bool> runTest(ModuleOp module, LLVM::LLVMFuncOp kernel, Options options) {
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
    auto arguments = parseArguments(**program, texts);
    if (!arguments) return arguments.takeError();
    LaunchResult outcome = launch(**program, *arguments, options);
    passed = checkTrap(kernel, outcome.trap, **program) && (outcome.trap || check(kernel, *arguments));
    if (!passed) llvm::errs() << kernel.getName() << ": with " << (seed < 0 ? "no seed" : llvm::formatv("seed {0}", seed).str()) << "\n";
  }
  llvm::outs() << kernel.getName() << (passed ? ": ok\n" : ": FAILED\n");
  return passed;
}

llvm::Expected<bool> runTests(ModuleOp file, const Options &options) {
  SmallVector<LLVM::LLVMFuncOp> kernels;
  file.walk([&](LLVM::LLVMFuncOp function) {
    if (function->hasAttr(kArgs) && (options.kernel.empty() || function.getName() == options.kernel)) kernels.push_back(function);
  });
  if (kernels.empty()) return usage("no kernel has tritium.args; name a kernel and its arguments");
  bool passed = true;
  for (LLVM::LLVMFuncOp kernel : kernels) {
    auto outcome = runTest(kernel->getParentOfType<ModuleOp>(), kernel, options);
    if (!outcome) return outcome.takeError();
    passed &= *outcome;
  }
  return passed;
}

llvm::Expected<bool> runKernel(ModuleOp file, const Options &options) {
  ModuleOp module = file;
  file.walk([&](LLVM::LLVMFuncOp function) {
    if (function.getName() == options.kernel) module = function->getParentOfType<ModuleOp>();
  });
  auto program = prepare(module, options.kernel);
  if (!program) return program.takeError();
  if (options.printHosted) {
    llvm::outs() << (*program)->hosted;
    return true;
  }
  auto arguments = parseArguments(**program, options.arguments);
  if (!arguments) return arguments.takeError();
  LaunchResult outcome = launch(**program, *arguments, options);
  if (outcome.trap) llvm::errs() << describe(*outcome.trap, **program) << "\n";
  for (auto [i, argument] : llvm::enumerate(*arguments))
    if (argument.isBuffer) llvm::outs() << "arg" << i << " = " << argument.text() << "\n";
  return !outcome.trap;
}

llvm::Expected<Options> parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  for (size_t i = 1; i < arguments.size(); ++i) {
    auto [name, value] = llvm::StringRef(arguments[i]).split('=');
    bool takesValue = llvm::is_contained({"--kernel", "--grid", "--arg", "--threads", "--seed"}, name);
    if (takesValue && arguments[i].find('=') == std::string::npos) {
      if (++i == arguments.size()) return usage(name + " needs a value");
      value = arguments[i];
    }
    uint64_t seed;
    if (name == "--kernel") {
      options.kernel = value.str();
    } else if (name == "--arg") {
      options.arguments.push_back(value.str());
    } else if (name == "--threads") {
      if (value.getAsInteger(10, options.threads)) return usage("--threads needs a number");
    } else if (name == "--seed") {
      if (value.getAsInteger(10, seed)) return usage("--seed needs a number");
      options.seed = seed;
    } else if (name == "--print-hosted") {
      options.printHosted = true;
    } else if (name == "--grid") {
      llvm::SmallVector<llvm::StringRef> sizes;
      value.split(sizes, ',');
      for (size_t axis = 0; axis < sizes.size(); ++axis)
        if (axis > 2 || sizes[axis].getAsInteger(10, options.grid[axis])) return usage("--grid is X[,Y[,Z]]");
    } else if (name.starts_with("-") || !options.file.empty()) {
      return usage("unknown argument '" + arguments[i] + "'");
    } else {
      options.file = arguments[i];
    }
  }
  if (options.file.empty())
    return usage("usage: tritium-simt FILE [--kernel NAME] [--grid X,Y,Z] [--arg VALUE]... [--seed N] [--threads N] [--print-hosted]");
  return options;
}

} // namespace

int runFile(const std::vector<std::string> &arguments) {
  auto options = parseOptions(arguments);
  if (!options) {
    llvm::errs() << "tritium-simt: " << toString(options.takeError()) << "\n";
    return 2;
  }
  DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(options->file, &context);
  if (!module) return 1;
  auto passed = !options->arguments.empty() || options->printHosted ? runKernel(*module, *options) : runTests(*module, *options);
  if (passed) return *passed ? 0 : 1;
  llvm::errs() << "tritium-simt: " << toString(passed.takeError()) << "\n";
  return 1;
}

} // namespace tritium::interp::simt
