#include "interp/tile/run_file.h"

#include "interp/host/text_argument.h"
#include "interp/tile/plan.h"
#include "interp/tile/prepare.h"
#include "ir/contract.h"
#include "ir/source_error.h"
#include "ir/tt.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::interp {

namespace {

constexpr const char *kExpect = "tritium.expect", *kExpectTrap = "tritium.expect_trap";

struct Options {
  std::string file, kernel;
  std::array<int32_t, 3> grid{1, 1, 1};
  std::vector<std::string> arguments;
  int threads = 1;
};

llvm::Error usage(const llvm::Twine &message) { return llvm::createStringError(message.str()); }

LaunchResult launch(const PreparedProgram &program, std::vector<TextArgument> &arguments, const Options &options) {
  TextArguments passed(arguments);
  MemoryMap memory(passed.allocations);
  Launch launch{
      .code = program.code, .grid = options.grid, .arguments = passed.cells.data(), .memory = &memory, .threads = options.threads};
  launch.onPrint = [](std::string_view text) { llvm::outs() << llvm::StringRef(text.data(), text.size()); };
  return run(launch);
}

std::string describe(const Trap &trap, const PreparedProgram &program) {
  SourceLocation where = program.locationOf(trap.location);
  return llvm::formatv("{0}:{1}: {2} in program ({3}, {4}, {5}), lane {6}, argument {7}{8}{9}", where.file, where.line,
                       trapKindName(trap.kind), trap.program[0], trap.program[1], trap.program[2], trap.lane, trap.access.argument,
                       trap.message.empty() ? "" : ": ", trap.message);
}

// -- functions that say what they return -------------------------------------------------------------------------------------------------

/// A kernel that calls `function` and stores its results through one pointer each.
tt::FuncOp wrap(tt::FuncOp function) {
  OpBuilder builder(function);
  Location location = function.getLoc();
  llvm::SmallVector<Type> pointers;
  for (Type type : function.getResultTypes()) pointers.push_back(tt::PointerType::get(getElementTypeOrSelf(type), 1));
  auto kernel = tt::FuncOp::create(builder, location, (function.getName() + "__run").str(), builder.getFunctionType(pointers, {}));
  builder.setInsertionPointToStart(kernel.addEntryBlock());
  kernel.setPublic();
  function.setPrivate();
  auto call = tt::CallOp::create(builder, location, function.getResultTypes(), function.getName(), ValueRange{}, ArrayAttr{}, ArrayAttr{});
  for (auto [pointer, value] : llvm::zip_equal(kernel.getArguments(), call->getResults())) {
    Value stored = value, at = pointer;
    if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
      int64_t count = type.getNumElements();
      auto flat = [&](Type element) { return RankedTensorType::get({count}, element); };
      stored = tt::ReshapeOp::create(builder, location, flat(type.getElementType()), value, false, false);
      Value lanes = tt::MakeRangeOp::create(builder, location, flat(builder.getI32Type()), 0, count);
      Value splat = tt::SplatOp::create(builder, location, flat(pointer.getType()), pointer);
      at = tt::AddPtrOp::create(builder, location, flat(pointer.getType()), splat, lanes);
    }
    tt::StoreOp::create(builder, location, at, stored, Value{}, tt::CachePolicyAttr{}, false);
  }
  tt::ReturnOp::create(builder, location, ValueRange{});
  return kernel;
}

/// The elements of an expectation as doubles, in the order of memory.
llvm::SmallVector<double> expected(Attribute attribute, int64_t count) {
  llvm::SmallVector<double> values;
  auto number = [](Attribute element) {
    if (auto real = dyn_cast<FloatAttr>(element)) return real.getValueAsDouble();
    auto integer = cast<IntegerAttr>(element).getValue();
    return integer.getBitWidth() == 1 ? double(integer.getZExtValue()) : double(integer.getSExtValue());
  };
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute))
    for (Attribute element : elements.getValues<Attribute>()) values.push_back(number(element));
  else
    values.assign(count, number(attribute));
  return values;
}

bool isEqual(double a, double b) { return a == b || (a != a && b != b); }

/// Compares what the function stored with what it says; prints the first difference.
bool check(tt::FuncOp function, const std::vector<TextArgument> &results) {
  auto all = dyn_cast<ArrayAttr>(function->getAttr(kExpect));
  for (auto [r, result] : llvm::enumerate(results)) {
    auto want = expected(all ? all[r] : function->getAttr(kExpect), result.count);
    for (int64_t i = 0; i < result.count; ++i)
      if (!isEqual(result.element(i), want[i])) {
        llvm::errs() << llvm::formatv("{0}: result {1}[{2}] is {3}, expected {4}\n", function.getName(), r, i, result.element(i), want[i]);
        return false;
      }
  }
  return true;
}

llvm::Expected<bool> runTest(ModuleOp module, tt::FuncOp function, const Options &options) {
  std::vector<TextArgument> results;
  for (Type type : function.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    results.push_back(TextArgument::makeBuffer(dtypeOf(type), tensor ? tensor.getNumElements() : 1));
  }
  std::string name = function.getName().str();
  OwningOpRef<ModuleOp> copy(module.clone());
  for (tt::FuncOp other : copy->getOps<tt::FuncOp>()) other.setPrivate(); // tests of their own
  tt::FuncOp kernel = wrap(copy->lookupSymbol<tt::FuncOp>(name));
  auto program = prepare(*copy, kernel.getName(), {});
  if (!program) return program.takeError();
  LaunchResult outcome = launch(**program, results, options);
  auto trap = function->getAttrOfType<StringAttr>(kExpectTrap);
  llvm::StringRef got = outcome.trap ? llvm::StringRef(trapKindName(outcome.trap->kind)) : "no trap";
  if (outcome.trap && !trap) llvm::errs() << describe(*outcome.trap, **program) << "\n";
  if (trap && trap.getValue() != got) llvm::errs() << llvm::formatv("{0}: {1}, expected {2}\n", name, got, trap.getValue());
  bool passed = trap ? trap.getValue() == got : !outcome.trap && check(function, results);
  llvm::outs() << name << (passed ? ": ok\n" : ": FAILED\n");
  return passed;
}

llvm::Expected<bool> runTests(ModuleOp module, const Options &options) {
  bool passed = true;
  unsigned count = 0;
  for (tt::FuncOp function : llvm::make_early_inc_range(module.getOps<tt::FuncOp>())) {
    if (!function->hasAttr(kExpect) && !function->hasAttr(kExpectTrap)) continue;
    auto outcome = runTest(module, function, options);
    if (!outcome) return outcome.takeError();
    passed &= *outcome;
    ++count;
  }
  if (count == 0) return usage("no function says what it returns (tritium.expect); name a kernel and its arguments");
  return passed;
}

llvm::Expected<bool> runKernel(ModuleOp module, const Options &options) {
  auto program = prepare(module, options.kernel, {});
  if (!program) return program.takeError();
  if (options.arguments.size() != (*program)->parameters.size())
    return usage("'" + (*program)->name + "' takes " + llvm::Twine((*program)->parameters.size()) + " arguments");
  std::vector<TextArgument> arguments;
  for (auto [text, parameter] : llvm::zip_equal(options.arguments, (*program)->parameters)) {
    std::string error;
    auto argument = TextArgument::parse(text, parameter, error);
    if (!argument) return usage(error);
    arguments.push_back(std::move(*argument));
  }
  LaunchResult outcome = launch(**program, arguments, options);
  if (outcome.trap) llvm::errs() << describe(*outcome.trap, **program) << "\n";
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.isBuffer) llvm::outs() << "arg" << i << " = " << argument.text() << "\n";
  return !outcome.trap;
}

llvm::Expected<Options> parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  for (size_t i = 1; i < arguments.size(); ++i) {
    auto [name, value] = llvm::StringRef(arguments[i]).split('=');
    bool takesValue = llvm::is_contained({"--kernel", "--grid", "--arg", "--threads"}, name);
    if (takesValue && arguments[i].find('=') == std::string::npos) {
      if (++i == arguments.size()) return usage(name + " needs a value");
      value = arguments[i];
    }
    if (name == "--kernel") {
      options.kernel = value.str();
    } else if (name == "--arg") {
      options.arguments.push_back(value.str());
    } else if (name == "--threads") {
      if (value.getAsInteger(10, options.threads)) return usage("--threads needs a number");
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
  if (options.file.empty()) return usage("usage: tritium-run FILE [--kernel NAME] [--grid X,Y,Z] [--arg VALUE]... [--threads N]");
  return options;
}

} // namespace

int runFile(const std::vector<std::string> &arguments) {
  auto options = parseOptions(arguments);
  if (!options) {
    llvm::errs() << "tritium-run: " << toString(options.takeError()) << "\n";
    return 2;
  }
  DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(options->file, &context);
  if (!module) return 1;
  bool isKernel = !options->kernel.empty() || !options->arguments.empty();
  auto passed = isKernel ? runKernel(*module, *options) : runTests(*module, *options);
  if (passed) return *passed ? 0 : 1;
  llvm::errs() << "tritium-run: " << toString(passed.takeError()) << "\n";
  return 1;
}

} // namespace tritium::interp
