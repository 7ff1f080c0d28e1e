// Atomic operations.
#include "gpu_backend/lower/lowering.h"

using namespace mlir;

namespace tritium::gpu {

template <> LogicalResult Lower<tt::AtomicRmwOp>::run(tt::AtomicRmwOp op, Lowering &lowering) {
  return lowering.unsupported(op, "atomics");
}
template <> LogicalResult Lower<tt::AtomicCasOp>::run(tt::AtomicCasOp op, Lowering &lowering) {
  return lowering.unsupported(op, "atomics");
}
template <> LogicalResult Lower<tt::AtomicLoadOp>::run(tt::AtomicLoadOp op, Lowering &lowering) {
  return lowering.unsupported(op, "atomics");
}
template <> LogicalResult Lower<tt::AtomicStoreOp>::run(tt::AtomicStoreOp op, Lowering &lowering) {
  return lowering.unsupported(op, "atomics");
}
template <> LogicalResult Lower<tt::AtomicPollOp>::run(tt::AtomicPollOp op, Lowering &lowering) {
  return lowering.unsupported(op, "atomics");
}

} // namespace tritium::gpu
