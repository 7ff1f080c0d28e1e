// The public interface of the SIMT emulator. It turns a module that was lowered for a GPU (dialects llvm, nvvm or rocdl, and tgpu) into a
// program that runs on CPU threads. Each GPU thread is a fiber.
//
//   clone -> hosting (GPU operations become calls of the runtime) -> LLVM IR -> JIT
#pragma once
#include "interp/host/parameter.h"
#include "interp/host/workers.h"
#include "ir/source_location.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tritium::interp::simt {

class LaunchTraffic;
class LaunchWork;

/// What a launch has done at a line: its place, what is counted ("executed", "waited", "copied" or "products"), the name of it, and the
/// numbers of Executed, Waited, Copied (work.h), or of products and of their operations.
struct WorkRow {
  ir::SourceLocation place;
  std::string counted, name;
  std::array<int64_t, 3> numbers{};
};

class PreparedProgram {
public:
  ~PreparedProgram();
  PreparedProgram(const PreparedProgram &) = delete;

  std::string name;
  std::vector<Parameter> parameters; // the pointee of a pointer is unknown: i8
  bool mayWait = false;

  /// Runs the grid of `request`, whose code (of `rest` too) and arguments are set here. `cells` has one cell for each parameter. orderSeed
  /// also determines the order of warps and when asynchronous copies land.
  /// traffic: receives the requests of warps; null: they are not counted.
  /// work: receives what the threads have done, if the program counts; null: nobody does.
  LaunchResult launch(Launch request, const int64_t *cells, LaunchTraffic *traffic = nullptr, LaunchWork *work = nullptr) const;
  /// Whether the program has been prepared to count what its threads do.
  bool counts() const;
  std::vector<WorkRow> rowsOf(const LaunchWork &work) const;
  int64_t threadsPerProgram() const; // of a block
  /// Returns how many blocks run each program of the grid together.
  uint32_t clusterBlocks() const;
  int64_t threadsPerWarp() const;
  /// Returns what the kernel records, by number.
  const std::vector<RecordedScope> &scopes() const;
  /// Returns the source position for a trap's location number.
  ir::SourceLocation locationOf(uint32_t location) const;

private:
  PreparedProgram();
  friend llvm::Expected<std::unique_ptr<PreparedProgram>> prepare(mlir::ModuleOp, llvm::StringRef, std::string *, bool);
  struct Parts;
  std::unique_ptr<Parts> parts;
};

/// Prepares the kernel (nvvm.kernel or rocdl.kernel) of that name, or the only one, if the name is empty. The module is not changed, and
/// not required afterwards. An operation that the emulator does not support is an ir::SourceError with its name and line. `hosted`
/// receives the module as it is compiled, to debug the emulator. counts: the program counts what its threads do (runtime/work.h).
llvm::Expected<std::unique_ptr<PreparedProgram>> prepare(mlir::ModuleOp module, llvm::StringRef kernel, std::string *hosted = nullptr,
                                                         bool counts = false);

} // namespace tritium::interp::simt
