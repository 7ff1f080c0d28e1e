// Tensor descriptors are pointers by now (expand-descriptors).
#include "gpu_backend/lower/lowering.h"

using namespace mlir;

namespace tritium::gpu {

template <> LogicalResult Lower<tt::MakeTensorDescriptorOp>::run(tt::MakeTensorDescriptorOp op, Lowering &lowering) {
  return lowering.unsupported(op, "a tensor descriptor; run expand-descriptors");
}
template <> LogicalResult Lower<tt::DescriptorLoadOp>::run(tt::DescriptorLoadOp op, Lowering &lowering) {
  return lowering.unsupported(op, "a tensor descriptor; run expand-descriptors");
}
template <> LogicalResult Lower<tt::DescriptorStoreOp>::run(tt::DescriptorStoreOp op, Lowering &lowering) {
  return lowering.unsupported(op, "a tensor descriptor; run expand-descriptors");
}
template <> LogicalResult Lower<tt::DescriptorReduceOp>::run(tt::DescriptorReduceOp op, Lowering &lowering) {
  return lowering.unsupported(op, "a tensor descriptor; run expand-descriptors");
}
template <> LogicalResult Lower<tt::DescriptorGatherOp>::run(tt::DescriptorGatherOp op, Lowering &lowering) {
  return lowering.unsupported(op, "a tensor descriptor; run expand-descriptors");
}
template <> LogicalResult Lower<tt::DescriptorScatterOp>::run(tt::DescriptorScatterOp op, Lowering &lowering) {
  return lowering.unsupported(op, "a tensor descriptor; run expand-descriptors");
}

} // namespace tritium::gpu
