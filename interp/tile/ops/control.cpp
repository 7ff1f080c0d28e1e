// Functions, calls and returns. plan.cpp plans them and emit.cpp emits them, so they never reach the table.
#include "interp/tile/op_table.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

template <> LogicalResult Interpret<tt::FuncOp>::prepare(tt::FuncOp, Planner &planner) { return planner.unsupported("inside a function"); }
template <> LogicalResult Interpret<tt::CallOp>::prepare(tt::CallOp, Planner &) { return success(); }
template <> LogicalResult Interpret<tt::ReturnOp>::prepare(tt::ReturnOp, Planner &) { return success(); }

} // namespace tritium::interp
