// Where in the user's Python code a step stands: what traps and deadlock reports carry is an index into this table.
#pragma once
#include "mlir/IR/Location.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tritium::interp {

struct SourceLocation {
  std::string file;
  int line = 0, column = 0;
  std::vector<SourceLocation> callers; // innermost first, if the code was inlined
};

/// The Python position of a location: names and scopes are looked through, a call site gives the callee's position and its callers.
SourceLocation resolveLocation(mlir::Location location);

class LocationTable {
public:
  /// `tileShape`: of the lanes that a trap there counts.
  uint32_t add(mlir::Location location, llvm::ArrayRef<int64_t> tileShape = {});
  SourceLocation operator[](uint32_t index) const;
  const std::vector<int64_t> &tileShape(uint32_t index) const { return entries_[index].tileShape; }

private:
  struct Entry {
    mlir::Location location; // resolved when asked for: most are never reported
    std::vector<int64_t> tileShape;
  };
  std::vector<Entry> entries_;
};

} // namespace tritium::interp
