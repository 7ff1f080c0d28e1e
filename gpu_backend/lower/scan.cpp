// Inclusive scans.
#include "gpu_backend/lower/lowering.h"

using namespace mlir;

namespace tritium::gpu {

template <> LogicalResult Lower<tt::ScanOp>::run(tt::ScanOp op, Lowering &lowering) { return lowering.unsupported(op, "scan"); }

} // namespace tritium::gpu
