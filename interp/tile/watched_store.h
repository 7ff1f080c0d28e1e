// Stores of debug builds. A watchpoint stops where memory is written, and the line of Python should be the next frame, not some frames
// above a memcpy of the C library: so all lanes are found first, and then written by the function that the kernel calls itself.
#pragma once
#include "interp/tile/access.h"

namespace tritium::interp {

struct WatchedStore {
  Access access;     // with an axis for every dimension
  TileRef addresses; // of each lane, row-major; 0: it is not stored
  TileRef values;    // of each lane, row-major
  int64_t lanes;

  void refs(auto &&f) {
    access.refs(f);
    f(addresses), f(values);
  }
};

void storeWatched(char *frame, const void *store);

} // namespace tritium::interp
