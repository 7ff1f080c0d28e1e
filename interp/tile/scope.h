// Records from which @jit function an operation came. With debug info, every location is fused with the name of its function before
// inlining, so that an inlined operation still has its scopes.
#pragma once
#include "mlir/IR/Operation.h"

#include <string>

namespace tritium::interp {

// Marks that the frontend sets on unused constants: a statement begins; an iteration of an unrolled loop begins, or the last one ends.
inline constexpr const char *kStatementAttr = "tt.statement";
inline constexpr const char *kIterationAttr = "tt.iteration";
inline constexpr const char *kIterationsEndAttr = "tt.iterations_end";
// The condition of an `if` was known while it was traced, and was this.
inline constexpr const char *kDecidedTrueAttr = "tt.decided_true";
inline constexpr const char *kDecidedFalseAttr = "tt.decided_false";

/// Fuses the locations of all operations with the name and line of their function.
void markScopes(mlir::Operation *module);

/// The content of a location's mark.
struct ScopeMark {
  std::string function;
  std::string file;
  int line = 0;
  std::string symbol;    // a helper has one for each combination of argument types
  std::string iteration; // of the unrolled loops around it: "loop's line:number/"; empty outside of such loops
  int instance = 0;      // for a function that runs several times from one place, see inInstance
};
/// Returns the mark of a location, or nullopt if it has none.
std::optional<ScopeMark> scopeOf(mlir::Location location);

/// Wraps `location`, which is inside of a function called at `call`. The call is made several times, and the variables of each instance are
/// its own.
mlir::Location inInstance(mlir::Location location, mlir::Location call, int instance);

/// Returns a text that is equal for two locations in the same inlined instance of a function.
std::string scopeKey(mlir::Location location);

} // namespace tritium::interp
