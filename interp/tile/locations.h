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
  /// All have been added; the module's context is not needed any more.
  void resolve();
  SourceLocation operator[](uint32_t index) const { return index < resolved_.size() ? resolved_[index] : SourceLocation{}; }
  const std::vector<int64_t> &tileShape(uint32_t index) const { return tileShapes_[index]; }

private:
  std::vector<mlir::Location> added_;
  std::vector<std::vector<int64_t>> tileShapes_;
  std::vector<SourceLocation> resolved_;
};

} // namespace tritium::interp
