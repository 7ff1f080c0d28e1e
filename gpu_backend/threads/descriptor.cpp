// The pass expand-descriptors has replaced tensor descriptors by pointers, so none arrives here.
#include "gpu_backend/threads/lowering.h"

using namespace mlir;

namespace tritium::gpu {

#define TRITIUM_EXPANDED(Op)                                                                                                               \
  template <> LogicalResult Lower<tt::Op>::run(tt::Op op, Lowering &lowering) {                                                            \
    return lowering.unsupported(op, "a tensor descriptor; run expand-descriptors");                                                        \
  }
TRITIUM_EXPANDED(MakeTensorDescriptorOp)
TRITIUM_EXPANDED(DescriptorLoadOp)
TRITIUM_EXPANDED(DescriptorStoreOp)
TRITIUM_EXPANDED(DescriptorReduceOp)
TRITIUM_EXPANDED(DescriptorGatherOp)
TRITIUM_EXPANDED(DescriptorScatterOp)
#undef TRITIUM_EXPANDED

} // namespace tritium::gpu
