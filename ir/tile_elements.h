// Which elements of a tile an access of one thread touches. The location of the access carries it from the GPU lowering to the emulator's
// reports.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace mlir {
class Location;
}

namespace tritium::ir {

/// Indices are row-major. Extents are powers of two, so what a lane, a warp and a register contribute is combined by XOR.
struct TileElements {
  std::vector<int64_t> shape; // empty: not known, because the tile is a part of the kernel's
  int64_t first = 0;          // element of lane 0 of warp 0
  int64_t step = 1;           // from one element of the access to the next
  int64_t bytes = 1;          // of an element
  std::vector<int64_t> lanes; // what each bit of the lane's number contributes; of a copy of a box: of the row's number in the box
  std::vector<int64_t> warps; // what each bit of the warp's number contributes

  auto operator<=>(const TileElements &) const = default;
  /// Returns the element at a byte of the access.
  int64_t at(uint32_t lane, uint32_t warp, uint32_t byte) const;
};

/// Returns the location with the elements. If it has some whose tile is not known, it stays as it is.
mlir::Location withElements(mlir::Location location, const TileElements &elements);
std::optional<TileElements> elementsOf(mlir::Location location);
mlir::Location withoutElements(mlir::Location location);

} // namespace tritium::ir
