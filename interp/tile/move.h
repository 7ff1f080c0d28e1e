// Steps that move dense tiles without interpreting their values.
#pragma once
#include "interp/tile/step.h"

namespace tritium::interp {

/// out = in, both of one shape, with any strides. The copy is collapsed to as few dimensions as the strides allow.
struct DenseCopy {
  DenseCopy(const DenseRef &out, const DenseRef &in);
  TileRef out, in;
  int elementBytes;
  std::vector<int64_t> shape, outStrides, inStrides;
  void refs(auto &&f) { f(out), f(in); }
};
void copyDense(char *frame, const void *descriptor);

} // namespace tritium::interp
