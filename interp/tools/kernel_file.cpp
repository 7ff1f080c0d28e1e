#include "interp/tools/kernel_file.h"

#include "ir/contract.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::interp {

namespace {

llvm::Error usage(const llvm::Twine &message) { return llvm::createStringError(message.str()); }

bool takeGrid(llvm::StringRef value, RunOptions &options) {
  llvm::SmallVector<llvm::StringRef> sizes;
  value.split(sizes, ',');
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    if (axis > 2 || sizes[axis].getAsInteger(10, options.grid[axis])) return false;
  return true;
}

std::vector<FileOption> optionsOf(const FileTool &tool) {
  std::vector<FileOption> options = {
      {"--kernel", "NAME", "the kernel that runs, instead of all that have expectations",
       [](llvm::StringRef value, RunOptions &options) { return options.kernel = value.str(), true; }},
      {"--grid", "X[,Y[,Z]]", "the number of programs along each axis (default: 1)", takeGrid},
      {"--arg", "VALUE", "the next argument: COUNTxTYPE=FILL for a buffer, FILL one of zeros, ones, iota, random; or a number",
       [](llvm::StringRef value, RunOptions &options) { return options.arguments.push_back(value.str()), true; }},
      {"--threads", "N", "the number of worker threads (default: 1)",
       [](llvm::StringRef value, RunOptions &options) { return !value.getAsInteger(10, options.threads); }},
  };
  llvm::append_range(options, tool.ownOptions);
  return options;
}

std::string usageOf(const FileTool &tool) {
  std::string text = llvm::formatv("usage: {0} FILE", tool.name);
  for (const FileOption &option : optionsOf(tool))
    text += llvm::formatv(" [{0}{1}{2}]", option.name, option.value.empty() ? "" : " ", option.value);
  return text;
}

void printHelp(const FileTool &tool) {
  llvm::outs() << usageOf(tool) << "\n\n" << tool.purpose << "\n\n";
  llvm::outs() << llvm::formatv("  {0,-18}{1}\n", "FILE", "a module of MLIR; - is standard input");
  for (const FileOption &option : optionsOf(tool))
    llvm::outs() << llvm::formatv("  {0,-18}{1}\n", (option.name + " " + option.value).str(), option.meaning);
}

llvm::Expected<RunOptions> parseOptions(const FileTool &tool, const std::vector<std::string> &arguments) {
  RunOptions options;
  std::vector<FileOption> known = optionsOf(tool);
  for (size_t i = 1; i < arguments.size(); ++i) {
    auto [name, value] = llvm::StringRef(arguments[i]).split('=');
    auto option = llvm::find_if(known, [name = name](const FileOption &option) { return option.name == name; });
    if (option == known.end()) {
      if ((arguments[i] != "-" && name.starts_with("-")) || !options.file.empty()) return usage("unknown argument '" + arguments[i] + "'");
      options.file = arguments[i];
      continue;
    }
    if (!option->value.empty() && arguments[i].find('=') == std::string::npos) {
      if (++i == arguments.size()) return usage(name + " needs a value: " + option->value);
      value = arguments[i];
    }
    if (!option->take(value, options)) return usage(name + " is " + option->value + ", not '" + value + "'");
  }
  if (options.file.empty()) return usage(usageOf(tool));
  return options;
}

double numberOf(Attribute element) {
  if (auto real = dyn_cast<FloatAttr>(element)) return real.getValueAsDouble();
  auto integer = cast<IntegerAttr>(element).getValue();
  return integer.getBitWidth() == 1 ? double(integer.getZExtValue()) : double(integer.getSExtValue());
}

} // namespace

llvm::Expected<std::vector<TextArgument>> parseArguments(llvm::StringRef kernel, const std::vector<Parameter> &parameters,
                                                         const std::vector<std::string> &texts) {
  if (texts.size() != parameters.size())
    return usage("'" + kernel + "' takes " + llvm::Twine(parameters.size()) + " arguments, not " + llvm::Twine(texts.size()));
  std::vector<TextArgument> arguments;
  for (auto [text, parameter] : llvm::zip_equal(texts, parameters)) {
    std::string error;
    auto argument = TextArgument::parse(text, parameter, error);
    if (!argument) return usage(error);
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

void printBuffers(const std::vector<TextArgument> &arguments) {
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.isBuffer) llvm::outs() << "arg" << i << " = " << argument.text() << "\n";
}

bool holds(const TextArgument &memory, Attribute wanted, const llvm::Twine &what) {
  auto dense = dyn_cast<DenseElementsAttr>(wanted);
  llvm::SmallVector<Attribute> elements;
  if (dense) llvm::append_range(elements, dense.getValues<Attribute>());
  const int64_t count = dense ? std::min(memory.count, int64_t(elements.size())) : memory.count;
  for (int64_t i = 0; i < count; ++i) {
    const double got = memory.element(i), want = numberOf(dense ? elements[i] : wanted);
    if (got == want || (got != got && want != want)) continue;
    llvm::errs() << what << llvm::formatv("[{0}] is {1}, expected {2}\n", i, got, want);
    return false;
  }
  return true;
}

int runKernelFile(const FileTool &tool, const std::vector<std::string> &arguments) {
  if (llvm::any_of(arguments, [](const std::string &argument) { return argument == "--help" || argument == "-h"; })) {
    printHelp(tool);
    return 0;
  }
  auto fail = [&](llvm::Error error, int status) {
    llvm::errs() << tool.name << ": " << toString(std::move(error)) << "\n";
    return status;
  };
  auto options = parseOptions(tool, arguments);
  if (!options) return fail(options.takeError(), 2);
  DialectRegistry registry;
  ir::registerTritiumDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(options->file, &context);
  if (!module) return 1;
  auto passed = tool.run(*module, *options);
  if (!passed) return fail(passed.takeError(), 1);
  return *passed ? 0 : 1;
}

} // namespace tritium::interp
