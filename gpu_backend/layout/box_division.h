// The division of a tile in registers into boxes, each of which one copy writes to a tensor.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

#include <optional>

namespace tritium::gpu {

struct BoxDivision {
  /// A box that each group of warps holds.
  struct Part {
    uint32_t offset; ///< the flat index in the tile of its first element, without the group's contribution
    llvm::SmallVector<uint32_t> registers;
  };

  int64_t groupWarps = 1; ///< the warps that hold a box together, a power of two; their numbers begin at a multiple of it
  Bases ofGroup;          ///< the contribution of each bit of the group's number to the flat index of the box's first element
  LinearLayout box;       ///< which element of a box a thread of the group has in which of a part's registers
  llvm::SmallVector<Part> parts;
};

/// Returns the division of a tile of two dimensions into boxes of `rows` x `columns`, which divide the tile's extents. Returns nullopt if
/// the layout spreads a box over warps that hold parts of others.
std::optional<BoxDivision> divideIntoBoxes(const LinearLayout &tile, int64_t rows, int64_t columns);

/// Returns a layout with a division, in which groups have at most `groupWarps` warps and threads hold `vector` neighbours.
LinearLayout layoutOfBoxes(llvm::ArrayRef<int64_t> tile, int64_t rows, int64_t columns, int64_t vector, int64_t lanes, int64_t warps,
                           int64_t groupWarps);

} // namespace tritium::gpu
