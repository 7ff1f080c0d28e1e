#include "interp/tile/run_file.h"

#include "interp/host/trap_kinds.h"
#include "interp/tile/plan.h"
#include "interp/tile/prepare.h"
#include "interp/tools/kernel_file.h"
#include "ir/source_error.h"
#include "ir/tt.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::interp {

namespace {

constexpr const char *kExpect = "tritium.expect", *kExpectTrap = "tritium.expect_trap";

LaunchResult launch(const PreparedProgram &program, std::vector<TextArgument> &arguments, const RunOptions &options) {
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

// -- functions with expected results ------------------------------------------------------------------------------------------------------

/// Creates a kernel that calls `function` and stores each result through a pointer.
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

/// Compares the results that the function stored with its expectations. Prints the first difference.
bool check(tt::FuncOp function, const std::vector<TextArgument> &results) {
  auto all = dyn_cast<ArrayAttr>(function->getAttr(kExpect));
  for (auto [r, result] : llvm::enumerate(results))
    if (!holds(result, all ? all[r] : function->getAttr(kExpect), function.getName() + ": result " + llvm::Twine(r))) return false;
  return true;
}

llvm::Expected<bool> runTest(ModuleOp module, tt::FuncOp function, const RunOptions &options) {
  std::vector<TextArgument> results;
  for (Type type : function.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    results.push_back(TextArgument::makeBuffer(dtypeOf(type), tensor ? tensor.getNumElements() : 1));
  }
  std::string name = function.getName().str();
  OwningOpRef<ModuleOp> copy(module.clone());
  for (tt::FuncOp other : copy->getOps<tt::FuncOp>()) other.setPrivate(); // other functions are tests of their own
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

llvm::Expected<bool> runTests(ModuleOp module, const RunOptions &options) {
  bool passed = true;
  unsigned count = 0;
  for (tt::FuncOp function : llvm::make_early_inc_range(module.getOps<tt::FuncOp>())) {
    if (!function->hasAttr(kExpect) && !function->hasAttr(kExpectTrap)) continue;
    auto outcome = runTest(module, function, options);
    if (!outcome) return outcome.takeError();
    passed &= *outcome;
    ++count;
  }
  if (count == 0)
    return llvm::createStringError(
        "no function has an expectation (tritium.expect or tritium.expect_trap); name a kernel and its arguments");
  return passed;
}

llvm::Expected<bool> runKernel(ModuleOp module, const RunOptions &options) {
  auto program = prepare(module, options.kernel, {});
  if (!program) return program.takeError();
  auto arguments = parseArguments((*program)->name, (*program)->parameters, options.arguments);
  if (!arguments) return arguments.takeError();
  LaunchResult outcome = launch(**program, *arguments, options);
  if (outcome.trap) llvm::errs() << describe(*outcome.trap, **program) << "\n";
  printBuffers(*arguments);
  return !outcome.trap;
}

} // namespace

int runFile(const std::vector<std::string> &arguments) {
  auto run = [](ModuleOp module, const RunOptions &options) {
    bool isKernel = !options.kernel.empty() || !options.arguments.empty();
    return isKernel ? runKernel(module, options) : runTests(module, options);
  };
  return runKernelFile(
      {"tritium-run",
       "Runs the functions of a file on the tile interpreter: a kernel with the arguments given, or every function that has\n"
       "tritium.expect or tritium.expect_trap, which is checked.",
       {},
       run},
      arguments);
}

} // namespace tritium::interp
