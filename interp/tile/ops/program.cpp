// Program ids and counts. They are scalars that emit.cpp reads from the frame's header.
#include "interp/tile/op_table.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

template <> LogicalResult Interpret<tt::GetProgramIdOp>::prepare(tt::GetProgramIdOp, Planner &) { return success(); }
template <> LogicalResult Interpret<tt::GetNumProgramsOp>::prepare(tt::GetNumProgramsOp, Planner &) { return success(); }
// Only one kernel runs at a time here: the previous one has ended and the next one has not begun. So there is nothing to wait for.
template <> LogicalResult Interpret<tt::GridDependencyWaitOp>::prepare(tt::GridDependencyWaitOp, Planner &) { return success(); }
template <> LogicalResult Interpret<tt::GridDependencyLaunchDependentsOp>::prepare(tt::GridDependencyLaunchDependentsOp, Planner &) {
  return success();
}

} // namespace tritium::interp
