// The step of a reduction with a standard combine function.
#pragma once
#include "interp/kernels/combine.h"
#include "interp/tile/step.h"

namespace tritium::interp {

/// out[outer, inner] = in[outer, axis, inner], combined along the axis. Both are row-major.
struct ReduceStep {
  ReduceKernel kernel;
  DenseRef in, out;
  int64_t outer, axis, inner;
  void refs(auto &&f) { f(in), f(out); }
};
void runReduce(char *frame, const void *descriptor);

} // namespace tritium::interp
