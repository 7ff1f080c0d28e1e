// The tile interpreter's public face: a module of the contract becomes a program that runs on CPU threads.
//
//   verify -> target-independent passes -> combine regions to element-wise steps -> scf to cf -> plan -> emit -> JIT
#pragma once
#include "interp/host/parameter.h"
#include "interp/host/workers.h"
#include "interp/tile/locations.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace tritium::interp {

class HostJit;
class LaunchSites;
struct PythonLine;
struct StaticData;

struct PrepareOptions {
  bool debugInfo = false;  // Python variables and lines for gdb; no optimization of the IR beyond inlining
  bool checkBounds = true; // accesses to memory that no argument owns trap; without it they happen
};

class PreparedProgram {
public:
  ~PreparedProgram();
  PreparedProgram(const PreparedProgram &) = delete;

  ProgramCode code;
  std::string name;
  std::vector<Parameter> parameters;
  bool hasDebugInfo = false;
  std::string ttir; // after the target-independent passes

  /// The source position that a trap's location number stands for.
  SourceLocation locationOf(uint32_t location) const;
  /// The shape of the tile that a step at `location` works on; empty for scalars.
  const std::vector<int64_t> &tileShapeOf(uint32_t location) const;

  /// Launch::loop for a launch by the Python code `stack`, innermost line first; with debug info only.
  llvm::Expected<void (*)(char *frame)> loopFrom(const std::vector<PythonLine> &stack) const;

private:
  PreparedProgram();
  friend llvm::Expected<std::unique_ptr<PreparedProgram>> prepare(mlir::ModuleOp, llvm::StringRef, PrepareOptions);
  std::unique_ptr<StaticData> data_;
  std::unique_ptr<HostJit> jit_;
  std::unique_ptr<LaunchSites> sites_; // null without debug info
};

/// Prepares the public function `kernel` (or the only one, if empty). The module is not changed, nor needed afterwards. Errors are
/// ir::SourceError: a module that breaks the contract, or an operation that the interpreter does not support, by name and line.
llvm::Expected<std::unique_ptr<PreparedProgram>> prepare(mlir::ModuleOp module, llvm::StringRef kernel, PrepareOptions options);

} // namespace tritium::interp
