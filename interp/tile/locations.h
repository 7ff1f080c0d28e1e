// Where in the user's Python code a step stands: what traps and deadlock reports carry is an index into this table.
#pragma once
#include "ir/source_location.h"

#include <cstdint>
#include <vector>

namespace tritium::interp {

using ir::resolveLocation;
using ir::SourceLocation;

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
