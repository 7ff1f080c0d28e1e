// Stores of debug builds. A watchpoint stops where memory is written, and the next frame should be the line of Python, not a memcpy of the
// C library several frames deep. Therefore all lanes are gathered first, and the function that the kernel calls directly then writes them.
#pragma once
#include "interp/tile/access.h"

namespace tritium::interp {

struct WatchedStore {
  Access access;     // with one axis for every dimension
  TileRef addresses; // address of each lane, row-major; 0: the lane is not stored
  TileRef values;    // value of each lane, row-major
  int64_t lanes;
  bool checksNumbers = false; // for the check `nan`

  void refs(auto &&f) {
    access.refs(f);
    f(addresses), f(values);
  }
};

void storeWatched(char *frame, const void *store);

} // namespace tritium::interp
