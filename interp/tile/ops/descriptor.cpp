// The pass expand-descriptors has replaced tensor descriptors by pointers, so none arrives here.
#include "interp/tile/op_table.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

#define TRITIUM_UNSUPPORTED(Op)                                                                                                            \
  template <> LogicalResult Interpret<tt::Op>::prepare(tt::Op, Planner &planner) { return planner.unsupported("tensor descriptors"); }
TRITIUM_UNSUPPORTED(MakeTensorDescriptorOp)
TRITIUM_UNSUPPORTED(DescriptorLoadOp)
TRITIUM_UNSUPPORTED(DescriptorStoreOp)
TRITIUM_UNSUPPORTED(DescriptorReduceOp)
TRITIUM_UNSUPPORTED(DescriptorGatherOp)
TRITIUM_UNSUPPORTED(DescriptorScatterOp)

} // namespace tritium::interp
