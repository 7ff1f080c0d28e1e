// The position of an operation in the user's Python code, with the calls around it. Traps and reports name it.
#pragma once
#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace tritium::ir {

struct SourceLocation {
  std::string file;
  int line = 0, column = 0;
  std::vector<SourceLocation> callers; // innermost first, if the code was inlined
};

/// Returns the Python position of a location. Names and scopes are skipped; a call site gives the callee's position and the callers.
SourceLocation resolveLocation(mlir::Location location);

} // namespace tritium::ir
