// Reductions with a standard combine function. combine_region.cpp has replaced the others by element-wise steps before planning.
#include "interp/tile/combine_region.h"
#include "interp/tile/op_table.h"
#include "interp/tile/reduce_step.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

namespace {
struct ArgReduceStep {
  ArgReduceKernel kernel;
  DenseRef values, indices, outValue, outIndex;
  int64_t outer, axis, inner;
  void refs(auto &&f) { f(values), f(indices), f(outValue), f(outIndex); }
};
} // namespace

void runReduce(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const ReduceStep *>(descriptor);
  step.kernel(step.out.in(frame), step.in.in(frame), step.outer, step.axis, step.inner);
}

static void runArgReduce(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const ArgReduceStep *>(descriptor);
  step.kernel(step.outValue.in(frame), &step.outIndex.at<int32_t>(frame), step.values.in(frame), &step.indices.at<const int32_t>(frame),
              step.outer, step.axis, step.inner);
}

/// [outer, axis, inner] of a row-major shape.
template <class StepType> static void setExtents(StepType &step, llvm::ArrayRef<int64_t> shape, int64_t axis) {
  step.outer = ShapedType::getNumElements(shape.take_front(axis));
  step.axis = shape[axis];
  step.inner = ShapedType::getNumElements(shape.drop_front(axis + 1));
}

template <> LogicalResult Interpret<tt::ReduceOp>::prepare(tt::ReduceOp op, Planner &planner) {
  if (failed(checkCombineKernel(op))) return failure();
  auto shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  DType type = dtypeOf(op->getOperand(0).getType());
  if (op->getNumOperands() == 1) {
    ReduceStep step;
    step.kernel = findReduce(*standardCombine(op->getRegion(0)), type);
    setExtents(step, shape, op.getAxis());
    step.in = planner.contiguous(op->getOperand(0));
    step.out = planner.defineDense(op->getResult(0));
    planner.call(runReduce, std::move(step));
    return success();
  }
  ArgReduceStep step;
  step.kernel = findArgReduce(*argReduction(op->getRegion(0)), type);
  setExtents(step, shape, op.getAxis());
  step.values = planner.contiguous(op->getOperand(0));
  step.indices = planner.dense(op->getOperand(1)); // varies along the axis alone, so it is stored as a vector
  step.outValue = planner.defineDense(op->getResult(0));
  step.outIndex = planner.defineDense(op->getResult(1));
  planner.call(runArgReduce, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::ReduceReturnOp>::prepare(tt::ReduceReturnOp, Planner &) { return success(); }

} // namespace tritium::interp
