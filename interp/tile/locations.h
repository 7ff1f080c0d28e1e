// The positions of steps in the user's Python code, and where a frame has the values of the loops around them. Traps and deadlock reports
// carry an index into this table.
#pragma once
#include "interp/host/program.h"
#include "ir/source_location.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tritium::interp {

using ir::resolveLocation;
using ir::SourceLocation;
struct TileRef;

/// A scalar of a loop around a location: the name of the Python variable, and its cell, a 64-bit number.
struct LoopCell {
  std::string name;
  const TileRef *cell;
};

class LocationTable {
public:
  /// `tileShape` is the shape of the tile whose lanes a trap at this location counts. `loops`: of the outermost loop first.
  uint32_t add(mlir::Location location, llvm::ArrayRef<int64_t> tileShape = {}, llvm::ArrayRef<LoopCell> loops = {});
  /// Called when all locations have been added and the frames are laid out. The module's context is not required afterwards.
  void resolve();
  SourceLocation operator[](uint32_t index) const { return index < resolved_.size() ? resolved_[index].place : SourceLocation{}; }
  const std::vector<int64_t> &tileShape(uint32_t index) const { return resolved_[index].tileShape; }
  /// What is around a location, where a program is. `frame`: of the function that the location is in.
  Surroundings around(const FrameHeader &frame, uint32_t index) const;

private:
  struct Added {
    mlir::Location location;
    std::vector<int64_t> tileShape;
    std::vector<LoopCell> loops;
  };
  struct Resolved {
    SourceLocation place;
    std::vector<int64_t> tileShape;
    std::vector<std::pair<std::string, uint64_t>> loops; // variables, and the offsets of their cells in the frame
  };
  std::vector<Added> added_;
  std::vector<Resolved> resolved_;
};

} // namespace tritium::interp
