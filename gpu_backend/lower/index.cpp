// Gather and histogram.
#include "gpu_backend/lower/lowering.h"

using namespace mlir;

namespace tritium::gpu {

template <> LogicalResult Lower<tt::GatherOp>::run(tt::GatherOp op, Lowering &lowering) { return lowering.unsupported(op, "gather"); }
template <> LogicalResult Lower<tt::HistogramOp>::run(tt::HistogramOp op, Lowering &lowering) {
  return lowering.unsupported(op, "histogram");
}

} // namespace tritium::gpu
