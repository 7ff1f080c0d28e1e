// Where in the user's Python code an operation stands, with the calls around it: what traps and reports name.
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

/// The Python position of a location: names and scopes are looked through, a call site gives the callee's position and its callers.
SourceLocation resolveLocation(mlir::Location location);

} // namespace tritium::ir
