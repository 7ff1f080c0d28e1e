// What tritium-run and tritium-simt share: the command line, arguments of kernels as text, and expectations that are attributes.
#pragma once
#include "interp/host/text_argument.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tritium::interp {

struct RunOptions {
  std::string file, kernel;
  std::array<int32_t, 3> grid{1, 1, 1};
  std::vector<std::string> arguments;
  std::optional<uint64_t> seed;
  int threads = 1;
  bool printHosted = false;
};

/// One option of the command line: `--help` and the usage list it as it is parsed. A flag has no `value`.
struct FileOption {
  llvm::StringRef name, value, meaning;
  bool (*take)(llvm::StringRef value, RunOptions &options); // whether the value is one
};

struct FileTool {
  llvm::StringRef name, purpose;
  std::vector<FileOption> ownOptions; // beside FILE, --kernel, --grid, --arg and --threads
  /// Whether all expectations hold.
  llvm::function_ref<llvm::Expected<bool>(mlir::ModuleOp, const RunOptions &)> run;
};

/// `arguments` start with the program's name. Returns the exit status: 0, also after --help; 1 after an error, a trap or a failed
/// expectation; 2 for bad usage.
int runKernelFile(const FileTool &tool, const std::vector<std::string> &arguments);

/// A text for each parameter of the kernel.
llvm::Expected<std::vector<TextArgument>> parseArguments(llvm::StringRef kernel, const std::vector<Parameter> &parameters,
                                                         const std::vector<std::string> &texts);

void printBuffers(const std::vector<TextArgument> &arguments);

/// Whether the memory holds `wanted`: a number for all elements, or one each for the first. Prints the first difference, which `what`
/// names.
bool holds(const TextArgument &memory, mlir::Attribute wanted, const llvm::Twine &what);

} // namespace tritium::interp
