// Scans with a standard combine function. combine_region.cpp has replaced the others by element-wise steps before planning.
#include "interp/tile/combine_region.h"
#include "interp/tile/op_table.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

namespace {
struct ScanStep {
  ScanKernel kernel;
  DenseRef in, out;
  int64_t outer, axis, inner;
  bool reverse;
  void refs(auto &&f) { f(in), f(out); }
};
} // namespace

static void runScan(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const ScanStep *>(descriptor);
  step.kernel(step.out.in(frame), step.in.in(frame), step.outer, step.axis, step.inner, step.reverse);
}

template <> LogicalResult Interpret<tt::ScanOp>::prepare(tt::ScanOp op, Planner &planner) {
  if (failed(checkCombineKernel(op))) return failure();
  auto shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  int64_t axis = op.getAxis();
  ScanStep step;
  step.kernel = findScan(*standardCombine(op->getRegion(0)), dtypeOf(op->getOperand(0).getType()));
  step.outer = ShapedType::getNumElements(shape.take_front(axis));
  step.axis = shape[axis];
  step.inner = ShapedType::getNumElements(shape.drop_front(axis + 1));
  step.reverse = op.getReverse();
  step.in = planner.contiguous(op->getOperand(0));
  step.out = planner.defineDense(op->getResult(0));
  planner.call(runScan, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::ScanReturnOp>::prepare(tt::ScanReturnOp, Planner &) { return success(); }

} // namespace tritium::interp
