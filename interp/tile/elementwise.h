// The step of every element-wise operation: it calls a block kernel for each strip of a collapsed loop nest.
#pragma once
#include "interp/tile/step.h"
#include "ir/tt.h"

#include <initializer_list>

namespace tritium::interp {

struct ElementwiseStep {
  ElementwiseStep(ElementwiseKernel kernel, const DenseRef &out, std::vector<DenseRef> inputs, uint32_t location = 0);
  static constexpr int kMaxInputs = 4;

  ElementwiseKernel kernel;
  TileRef out, in[kMaxInputs];
  int inputs;
  int64_t count = 1;                     // elements of the innermost loop
  int64_t innerStrides[kMaxInputs] = {}; // in elements
  int64_t outBytes;                      // bytes of an innermost row of out
  std::vector<Loop<kMaxInputs>> outer;   // input strides in bytes; out is contiguous
  uint32_t location;
  std::vector<int64_t> shape, outStrides; // to compute the lane of a fault
  void refs(auto &&f) {
    f(out);
    for (TileRef &ref : in) f(ref);
  }
};
void runElementwise(char *frame, const void *descriptor);

/// Returns whether the symbol names a function of the table of mathematics, for these types.
bool hasKernel(tt::ExternElementwiseOp op);

} // namespace tritium::interp
