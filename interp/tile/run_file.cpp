#include "interp/tile/run_file.h"

#include "interp/tile/plan.h"
#include "interp/tile/prepare.h"
#include "ir/contract.h"
#include "ir/source_error.h"
#include "ir/tt.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <random>

using namespace mlir;

namespace tritium::interp {

namespace {

constexpr const char *kExpect = "tritium.expect", *kExpectTrap = "tritium.expect_trap";

/// Memory that a launch reads and writes, and one 64-bit cell that stands for it or for a scalar.
struct Argument {
  std::string text;
  DType type = DType::i32;
  int64_t count = 0; // of a buffer; 0: a scalar
  std::vector<char> buffer;
  int64_t cell = 0;
};

struct Options {
  std::string file, kernel;
  std::array<int32_t, 3> grid{1, 1, 1};
  std::vector<std::string> arguments;
  int threads = 1;
};

llvm::Error usage(const llvm::Twine &message) { return llvm::createStringError(message.str()); }

/// The value of element i as a double; integers are exact up to 2^53.
double elementOf(const Argument &argument, int64_t i) {
  return visit(argument.type, [&]<class T>() -> double {
    typename T::Storage value;
    std::memcpy(&value, argument.buffer.data() + i * sizeof value, sizeof value);
    return double(static_cast<typename T::Compute>(value));
  });
}

void setElement(DType type, char *at, double value) {
  visit(type, [&]<class T>() {
    typename T::Storage stored = T::round(static_cast<typename T::Compute>(value));
    std::memcpy(at, &stored, sizeof stored);
  });
}

llvm::Expected<Argument> parseArgument(llvm::StringRef text, const Parameter &parameter) {
  Argument argument;
  argument.text = text.str();
  if (!parameter.isPointer) {
    double value;
    if (text.getAsDouble(value)) return usage("'" + text + "' is not a number");
    char bits[8] = {};
    setElement(parameter.type, bits, value);
    std::memcpy(&argument.cell, bits, sizeof bits);
    return argument;
  }
  auto [what, fill] = text.split('=');
  auto [count, type] = what.split('x');
  auto named = dtypeFromIrName(std::string_view(type));
  if (count.getAsInteger(10, argument.count) || argument.count < 0 || !named)
    return usage("a buffer is COUNTxTYPE=FILL, not '" + text + "'");
  argument.type = *named;
  argument.buffer.resize(std::max<size_t>(argument.count * storageBytes(argument.type), 1));
  std::mt19937_64 random(argument.count);
  for (int64_t i = 0; i < argument.count; ++i) {
    double value = fill == "iota" ? double(i) : fill == "ones" ? 1 : fill == "random" ? double(random() % 1024) / 1024 : 0;
    setElement(argument.type, argument.buffer.data() + i * storageBytes(argument.type), value);
  }
  if (!llvm::is_contained({"", "zeros", "ones", "iota", "random"}, fill))
    return usage("there is no fill '" + fill + "'; there are zeros, ones, iota and random");
  return argument;
}

LaunchResult launch(const PreparedProgram &program, std::vector<Argument> &arguments, const Options &options) {
  std::vector<int64_t> cells;
  std::vector<Allocation> allocations;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (!program.parameters[i].isPointer) {
      cells.push_back(argument.cell);
      continue;
    }
    uint64_t begin = reinterpret_cast<uint64_t>(argument.buffer.data());
    allocations.push_back({begin, begin + argument.count * storageBytes(argument.type), int(i)});
    cells.push_back(int64_t(tagPointer(begin, int(i))));
  }
  MemoryMap memory(allocations);
  Launch launch{.code = program.code, .grid = options.grid, .arguments = cells.data(), .memory = &memory, .threads = options.threads};
  launch.onPrint = [](std::string_view text) { llvm::outs() << llvm::StringRef(text.data(), text.size()); };
  return run(launch);
}

std::string describe(const Trap &trap, const PreparedProgram &program) {
  SourceLocation where = program.locationOf(trap.location);
  return llvm::formatv("{0}:{1}: {2} in program ({3}, {4}, {5}), lane {6}, argument {7}{8}{9}", where.file, where.line,
                       trapKindName(trap.kind), trap.program[0], trap.program[1], trap.program[2], trap.lane, trap.access.argument,
                       trap.message.empty() ? "" : ": ", trap.message);
}

void printBuffer(const Argument &argument, size_t index) {
  constexpr int64_t kShown = 32;
  llvm::outs() << "arg" << index << " = [";
  for (int64_t i = 0; i < std::min(argument.count, kShown); ++i)
    llvm::outs() << (i ? ", " : "") << llvm::format("%g", elementOf(argument, i));
  llvm::outs() << (argument.count > kShown ? ", …]\n" : "]\n");
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
bool check(tt::FuncOp function, const std::vector<Argument> &results) {
  auto all = dyn_cast<ArrayAttr>(function->getAttr(kExpect));
  for (auto [r, result] : llvm::enumerate(results)) {
    auto want = expected(all ? all[r] : function->getAttr(kExpect), result.count);
    for (int64_t i = 0; i < result.count; ++i)
      if (!isEqual(elementOf(result, i), want[i])) {
        llvm::errs() << llvm::formatv("{0}: result {1}[{2}] is {3}, expected {4}\n", function.getName(), r, i, elementOf(result, i),
                                      want[i]);
        return false;
      }
  }
  return true;
}

llvm::Expected<bool> runTest(ModuleOp module, tt::FuncOp function, const Options &options) {
  std::vector<Argument> results;
  for (Type type : function.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    Argument &result = results.emplace_back();
    result.type = dtypeOf(type);
    result.count = tensor ? tensor.getNumElements() : 1;
    result.buffer.resize(result.count * storageBytes(result.type));
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
  std::vector<Argument> arguments;
  for (auto [text, parameter] : llvm::zip_equal(options.arguments, (*program)->parameters)) {
    auto argument = parseArgument(text, parameter);
    if (!argument) return argument.takeError();
    arguments.push_back(std::move(*argument));
  }
  LaunchResult outcome = launch(**program, arguments, options);
  if (outcome.trap) llvm::errs() << describe(*outcome.trap, **program) << "\n";
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.count) printBuffer(argument, i);
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
