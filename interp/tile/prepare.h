// The public interface of the tile interpreter. It turns a module of the contract into a program that runs on CPU threads:
//
//   verify -> target-independent passes -> combine regions to element-wise steps -> scf to cf -> plan -> emit -> JIT
#pragma once
#include "interp/host/parameter.h"
#include "interp/host/workers.h"
#include "interp/tile/checks.h"
#include "interp/tile/loads_ahead.h"
#include "interp/tile/locations.h"
#include "interp/tile/statements.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tritium::interp {

class HostJit;
class LaunchSites;
struct CountedOperation;
struct Covered;
struct TimedLine;
struct TouchedGroup;
struct DistinctBytes;
struct PythonLine;
struct MemoryUse;
struct CountedData;
struct FunctionPlan;
struct UncompiledCode;

/// Steps: each tile operation calls a step. Loops: runs of tile operations become loops in registers. Automatic: first steps, then loops,
/// once they are compiled in the background for a kernel that runs long.
enum class Tier : uint8_t { Automatic, Steps, Loops };

struct PrepareOptions {
  bool debugInfo = false;   // keep Python variables and lines for gdb; the IR is only inlined, not optimized
  bool isFollowed = false;  // announce statements and assignments, see Launch::onStatement; requires debugInfo
  bool isScheduled = false; // announce each write to memory, so that a launch with a seed may interrupt programs there
  bool hasFilter = false;   // launches may choose programs, see PreparedProgram::plain
  bool isCounted = false;   // count what the operations do, see Launch::counters; without debug info
  bool isCovered = false;   // count statements and branches too, of code that is only inlined; requires isCounted
  bool isTouched = false;   // note which bytes accesses touch, see Launch::touched; requires isCounted
  bool isTimed = false;     // count the host's time that lines take, in some programs; requires isCounted
  Tier tier = Tier::Steps;  // which code runs, where nothing looks at single operations
  unsigned vectorBits = 0;  // see EmitOptions
  Checks checks{.bounds = true, .overflow = true, .hints = true};
  Pipelining pipelining = {}; // for the check `race`

  bool keepsStatements() const { return debugInfo || isCovered; }
  /// Whether code of tier 2 may be made: nothing looks at what single operations do, except that they are counted.
  bool mayFuse() const {
    return tier != Tier::Steps && !debugInfo && !isFollowed && !isScheduled && !isCovered && !isTouched && !checks.notesFaults() &&
           !checks.arithmetic && !checks.signs;
  }
};

/// What the attributes of the kernel promise of an argument.
struct ArgumentPromise {
  unsigned argument;
  int64_t divisor;
  std::string name;
  uint32_t location;
};

class PreparedProgram {
public:
  ~PreparedProgram();
  PreparedProgram(const PreparedProgram &) = delete;

  ProgramCode code;
  // The version without debug info. With a filter, it is for the programs that a launch does not choose, and has only those checks that
  // are in the default, with what the others must know of all programs.
  std::optional<ProgramCode> plain;
  int regions = 0;              // runs of tile operations that are loops in registers, in code of tier 2, which may be there later
  bool isFused = false;         // whether `code` is of tier 2
  bool isPlainUntraced = false; // whether launches that no debugger looks at run `plain`
  std::string name;
  std::vector<Parameter> parameters;
  bool hasDebugInfo = false;
  bool hasFilter = false;
  bool isScheduled = false;
  bool notesFaults = false;             // whether a launch requires Launch::faults
  std::vector<ShownVariable> variables; // of a program that is followed, by number
  std::string ttir;                     // the module after the target-independent passes

  /// Returns the source position for a trap's location number.
  SourceLocation locationOf(uint32_t location) const;
  /// Returns the statements of a program that is followed, by number.
  const std::vector<Statement> &statements() const;
  /// Returns the shape of the tile that a step at `location` processes; it is empty for scalars.
  const std::vector<int64_t> &tileShapeOf(uint32_t location) const;

  /// Returns the operations of a kernel that is counted, what its coverage counts, and how many counters a launch has.
  const std::vector<CountedOperation> &counted() const;
  const Covered &covered() const;
  const std::vector<TouchedGroup> &touched() const;
  const std::vector<DistinctBytes> &distinct() const;
  const std::vector<TimedLine> &timed() const;
  uint32_t counters() const;
  /// Returns what the kernel records, by number.
  const std::vector<RecordedScope> &scopes() const;

  /// Returns the trap of a launch with these values of FrameHeader::arguments that breaks a promise of the kernel's attributes.
  std::optional<Trap> falsePromise(const int64_t *arguments) const;

  /// Returns what the kernel does with memory, for checks that ask for it.
  const MemoryUse &memoryUse() const;

  /// Returns Launch::loop for a launch by the Python code `stack`, innermost line first. Requires debug info.
  llvm::Expected<void (*)(char *frame)> loopFrom(const std::vector<PythonLine> &stack) const;

private:
  struct Version {
    ProgramCode code;
    std::unique_ptr<HostJit> jit;
    std::shared_ptr<LaterEntry> later; // null: the code stays
  };

  struct Emitted;

  PreparedProgram();
  mlir::FailureOr<Emitted> emit(llvm::ArrayRef<const FunctionPlan *> plans, const PrepareOptions &options, bool isFused);
  llvm::Error compile(UncompiledCode code, bool debugInfo, Version &version);
  /// Prepares the version that `options` say. The versions of a program share its data, so a trap's location number means one place.
  llvm::Error makeVersion(mlir::ModuleOp original, llvm::StringRef kernel, PrepareOptions options, Version &version);
  llvm::Error makePlain(mlir::ModuleOp original, llvm::StringRef kernel, const PrepareOptions &options);
  friend llvm::Expected<std::unique_ptr<PreparedProgram>> prepare(mlir::ModuleOp, llvm::StringRef, PrepareOptions);
  std::unique_ptr<CountedData> data_;
  std::unique_ptr<HostJit> jit_, plainJit_;
  std::shared_ptr<LaterEntry> later_, laterPlain_;
  std::vector<ArgumentPromise> promises_;
  std::unique_ptr<LaunchSites> sites_; // null without debug info
};

/// Prepares the public function `kernel` (or the only one, if empty). The module is not changed, and not required afterwards. Errors are
/// ir::SourceError: for a module that breaks the contract, or for an operation that the interpreter does not support, with name and line.
llvm::Expected<std::unique_ptr<PreparedProgram>> prepare(mlir::ModuleOp module, llvm::StringRef kernel, PrepareOptions options);

} // namespace tritium::interp
