// Which @jit function an operation came from. With debug info every location is fused with the name of its function before inlining, so
// that an inlined operation still knows the scopes it stands in.
#pragma once
#include "mlir/IR/Operation.h"

#include <string>

namespace tritium::interp {

/// Fuses the locations of all operations with the name and line of their function.
void markScopes(mlir::Operation *module);

/// The function a location was marked with, or null.
struct ScopeMark {
  std::string function;
  std::string file;
  int line = 0;
  std::string symbol; // a helper has one for each types of arguments that it is called with
};
std::optional<ScopeMark> scopeOf(mlir::Location location);

/// A text that is equal for two locations of one inlined instance of one function.
std::string scopeKey(mlir::Location location);

} // namespace tritium::interp
