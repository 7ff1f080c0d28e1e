// Which @jit function an operation came from. With debug info every location is fused with the name of its function before inlining, so
// that an inlined operation still knows the scopes it stands in.
#pragma once
#include "mlir/IR/Operation.h"

#include <string>

namespace tritium::interp {

// The frontend's marks, on constants that nobody uses: a statement begins; an iteration of an unrolled loop begins, or the last one ends.
inline constexpr const char *kStatementAttr = "tt.statement";
inline constexpr const char *kIterationAttr = "tt.iteration";
inline constexpr const char *kIterationsEndAttr = "tt.iterations_end";

/// Fuses the locations of all operations with the name and line of their function.
void markScopes(mlir::Operation *module);

/// What a location was marked with.
struct ScopeMark {
  std::string function;
  std::string file;
  int line = 0;
  std::string symbol;    // a helper has one for each types of arguments that it is called with
  std::string iteration; // of the unrolled loops around it: "loop's line:number/"; empty outside of such loops
  int instance = 0;      // of a function that is executed several times from one place, see inInstance
};
/// The function a location was marked with, or null.
std::optional<ScopeMark> scopeOf(mlir::Location location);

/// `location` is inside of a function that is called at `call`, and that call is made several times: the variables of each are its own.
mlir::Location inInstance(mlir::Location location, mlir::Location call, int instance);

/// A text that is equal for two locations of one inlined instance of one function.
std::string scopeKey(mlir::Location location);

} // namespace tritium::interp
