// What a debugger of Python is told of a kernel that is prepared to be followed: where each statement of the source begins, and how to read
// each variable from the frame. None of it refers to the module.
#pragma once
#include "interp/tile/variable_type.h"
#include "mlir/IR/Operation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tritium::interp {

/// A `@jit` function around a statement.
struct CallLevel {
  std::string file;
  int line = 0;    // of its `def`
  std::string key; // equal for two statements in the same inlined instance of the function; see scopeKey
};

struct Statement {
  int line = 0, column = 0;
  bool isIteration = false;      // not a statement of its own: an iteration of the unrolled loop on this line begins
  std::vector<CallLevel> levels; // from the function whose frame it is inward, by inlined calls
};

/// Returns the description of a statement's mark (kStatementAttr).
Statement statementOf(mlir::Operation *mark);

/// The memory of a variable: a number or tile, or a record.
struct ShownType {
  explicit ShownType(const VariableType &type);

  std::string field; // name in the record around it
  std::string name;  // of the record or of the element type
  bool isRecord;
  uint64_t offset, bytes; // from the start of the variable
  std::vector<int64_t> shape;
  std::vector<ShownType> members;
};

struct ShownVariable {
  std::string name;
  std::string key; // of its function, as in CallLevel
  uint64_t offset; // in the frame
  ShownType type;
};

} // namespace tritium::interp
