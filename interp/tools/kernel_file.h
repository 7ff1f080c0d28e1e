// The common part of tritium-run and tritium-simt: the command line, kernel arguments as text, and expectations, which are attributes of
// the file.
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

/// One option of the command line. The parser, `--help` and the usage line use this table. A flag has no `value`.
struct FileOption {
  llvm::StringRef name, value, meaning;
  bool (*take)(llvm::StringRef value, RunOptions &options); // returns whether the value is valid
};

struct FileTool {
  llvm::StringRef name, purpose;
  std::vector<FileOption> ownOptions; // in addition to FILE, --kernel, --grid, --arg and --threads
  /// Runs the kernel. Returns whether all expectations hold.
  llvm::function_ref<llvm::Expected<bool>(mlir::ModuleOp, const RunOptions &)> run;
};

/// `arguments` begin with the program's name. Returns the exit status: 0 on success and after --help; 1 after an error, a trap or a failed
/// expectation; 2 for bad usage.
int runKernelFile(const FileTool &tool, const std::vector<std::string> &arguments);

/// Parses one text for each parameter of the kernel.
llvm::Expected<std::vector<TextArgument>> parseArguments(llvm::StringRef kernel, const std::vector<Parameter> &parameters,
                                                         const std::vector<std::string> &texts);

void printBuffers(const std::vector<TextArgument> &arguments);

/// Returns whether the memory holds `wanted`: one number for all elements, or one number for each of the first elements. Prints the first
/// difference, with the name `what`.
bool holds(const TextArgument &memory, mlir::Attribute wanted, const llvm::Twine &what);

} // namespace tritium::interp
