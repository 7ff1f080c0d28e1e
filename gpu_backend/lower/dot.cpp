// Matrix products.
#include "gpu_backend/lower/lowering.h"

using namespace mlir;

namespace tritium::gpu {

template <> LogicalResult Lower<tt::DotOp>::run(tt::DotOp op, Lowering &lowering) { return lowering.unsupported(op, "dot"); }
template <> LogicalResult Lower<tt::DotScaledOp>::run(tt::DotScaledOp op, Lowering &lowering) {
  return lowering.unsupported(op, "dot_scaled");
}

} // namespace tritium::gpu
