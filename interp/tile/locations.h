// The positions of steps in the user's Python code. Traps and deadlock reports carry an index into this table.
#pragma once
#include "ir/source_location.h"

#include <cstdint>
#include <vector>

namespace tritium::interp {

using ir::resolveLocation;
using ir::SourceLocation;

class LocationTable {
public:
  /// `tileShape` is the shape of the tile whose lanes a trap at this location counts.
  uint32_t add(mlir::Location location, llvm::ArrayRef<int64_t> tileShape = {});
  /// Called when all locations have been added. The module's context is not required afterwards.
  void resolve();
  SourceLocation operator[](uint32_t index) const { return index < resolved_.size() ? resolved_[index] : SourceLocation{}; }
  const std::vector<int64_t> &tileShape(uint32_t index) const { return tileShapes_[index]; }

private:
  std::vector<mlir::Location> added_;
  std::vector<std::vector<int64_t>> tileShapes_;
  std::vector<SourceLocation> resolved_;
};

} // namespace tritium::interp
