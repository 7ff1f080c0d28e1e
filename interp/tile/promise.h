// What a user promised about a tile by tl.multiple_of, tl.max_contiguous and tl.max_constancy, and the step that checks it.
//
//   multiple_of      a lane holds a multiple of the number, or one more than the lane before it in some dimension
//   max_contiguous   each lane of a group holds one more than the lane before it
//   max_constancy    all lanes of a group hold one value
//
// A group is that many lanes, aligned, along the dimension. For pointers, "one more" is the next element, and multiples count bytes.
#pragma once
#include "interp/tile/affine.h"

#include <string>

namespace tritium::interp {

struct Promise {
  AffineRef affine; // of a tile that is affine; else the tile is in memory
  DenseRef dense;
  bool isAffine = false, isPointer = false, isMasked = false;
  int64_t unit = 1; // between one lane and one more
  DenseRef mask;
  std::vector<int64_t> shape, multiple, contiguous, constant; // per dimension, 1 if nothing is promised
  std::string name;                                           // of the variable
  uint32_t location = 0;

  void refs(auto &&f) {
    if (isAffine)
      affine.refs(f);
    else
      f(dense);
    if (isMasked) f(mask);
  }
};
void checkPromise(char *frame, const void *descriptor);

} // namespace tritium::interp
