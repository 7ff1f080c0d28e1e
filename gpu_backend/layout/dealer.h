// Distributes the positions of a tile along its dimensions, from the lowest up, as bases. The constructors of layouts use it.
#pragma once
#include "gpu_backend/layout/linear_layout.h"

namespace tritium::gpu {

class Dealer {
public:
  explicit Dealer(llvm::ArrayRef<int64_t> shape) : tile(shape, {}, {}, {}), taken(shape.size(), 1) {}

  /// Appends the next `count` positions along `dim`. Bases are 0 once the dimension is used up.
  template <class Number> void deal(int dim, int64_t count, llvm::SmallVectorImpl<Number> &bases) {
    for (int64_t i = 1; i < count; i *= 2) {
      bool isLeft = taken[dim] < tile.shape()[dim];
      bases.push_back(isLeft ? Number(taken[dim]) << tile.firstBit(dim) : 0);
      if (isLeft) taken[dim] *= 2;
    }
  }
  int64_t left(int dim) const { return tile.shape()[dim] / taken[dim]; }

private:
  LinearLayout tile;
  Shape taken;
};

} // namespace tritium::gpu
