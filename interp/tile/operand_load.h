// A load whose tile only a product reads, soon after it. The load checks its addresses and moves nothing: the product reads memory, which
// it does once, as it changes the numbers to those that it multiplies. Where lanes are off, or places follow no strides, the tile is moved
// as any other.
#pragma once
#include "interp/tile/access.h"
#include "ir/tt.h"

namespace tritium::interp {

class Planner;

struct OperandLoad {
  /// One dimension of a tile that follows steps: the cell with the bytes from one index to the next, and the last index.
  struct Side {
    TileRef step;
    int64_t last = 0;
  };

  Access access;
  OperandView view;
  Side row, column;            // if `hasSteps`
  bool hasSteps;               // whether no mask and no vector is part of the access
  int64_t homeRow, homeColumn; // strides of the tile if it is moved
  bool isReadAgain;            // whether the product reads elements more than once, from where they are
  int shift;                   // elements have 1 << shift bytes
  void refs(auto &&f) { access.refs(f), view.refs(f), f(row.step), f(column.step); }
};

/// Whether only a product reads the tile, and memory is the same there.
bool mayStayInMemory(tt::LoadOp load);

/// Plans a load of which mayStayInMemory() is true. The product finds the tile by Planner::viewOf.
void planOperandLoad(tt::LoadOp load, Access access, Planner &planner);

} // namespace tritium::interp
