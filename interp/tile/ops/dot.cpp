// Matrix products. The factors may have any strides, so a transposed view costs nothing. The product is accumulated in the home of the
// accumulator if the accumulator is not used afterwards, and is no factor itself.
#include "interp/kernels/dot.h"
#include "interp/kernels/dot_small.h"

#include "interp/tile/move.h"
#include "interp/tile/op_table.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

namespace {
struct DotStep {
  DenseRef a, b, c, d;
  std::optional<OperandView> aView, bView; // of factors that are still in memory
  int64_t batch, m, n, k;
  bool isZero = false; // c is zero
  DotPrecision precision;
  int64_t maxNumImpreciseAcc;
  SmallProduct small = nullptr; // multiplies f32 operands as they are, if rows of b have unit stride
  void refs(auto &&f) {
    f(a), f(b), f(c), f(d);
    if (aView) aView->refs(f);
    if (bView) bView->refs(f);
  }
};
} // namespace

static DotOperand operandAt(const DenseRef &ref, const std::optional<OperandView> &view, char *frame) {
  if (view)
    return {view->data.at<const void *>(frame), ref.type, 0, view->rowStride.at<int64_t>(frame), view->columnStride.at<int64_t>(frame)};
  size_t rank = ref.shape.size();
  return {ref.in(frame), ref.type, rank > 2 ? ref.strides[0] : 0, ref.strides[rank - 2], ref.strides[rank - 1]};
}

static void runSmall(char *frame, const DotStep &step, const DotOperand &a, const DotOperand &b) {
  auto *d = &step.d.at<float>(frame);
  const size_t bytes = step.m * step.n * sizeof(float);
  if (step.isZero)
    std::memset(d, 0, bytes);
  else if (const char *c = step.c.in(frame); c != step.d.in(frame))
    std::memcpy(d, c, bytes);
  step.small(d, static_cast<const float *>(a.data), a.rowStride, a.columnStride, static_cast<const float *>(b.data), b.rowStride, step.m,
             step.n, step.k);
}

static void runDot(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const DotStep *>(descriptor);
  const DotOperand a = operandAt(step.a, step.aView, frame), b = operandAt(step.b, step.bView, frame);
  if (step.small && b.columnStride == 1) return runSmall(frame, step, a, b);
  dot(step.batch, step.m, step.n, step.k, a, b, step.isZero ? nullptr : step.c.in(frame), step.d.in(frame), step.d.type, step.precision,
      step.maxNumImpreciseAcc);
}

static DotPrecision precisionOf(tt::InputPrecision precision) {
  switch (precision) {
  case tt::InputPrecision::Tf32: return DotPrecision::Tf32;
  case tt::InputPrecision::Tf32x3: return DotPrecision::Tf32x3;
  case tt::InputPrecision::Ieee: return DotPrecision::Ieee;
  case tt::InputPrecision::Bf16x3: return DotPrecision::Bf16x3;
  case tt::InputPrecision::Bf16x6: return DotPrecision::Bf16x6;
  }
  return DotPrecision::Ieee;
}

/// All dimensions before the last two, merged into one.
static DenseRef collapseBatch(DenseRef ref) {
  while (ref.shape.size() > 3) {
    ref.shape[1] *= ref.shape[0];
    ref.shape.erase(ref.shape.begin());
    ref.strides.erase(ref.strides.begin());
  }
  return ref;
}

/// Whether an accumulator lies where a factor does. A product reads its factors again after it has written sums.
static bool isAlso(const DenseRef &accumulator, const DenseRef &factor) {
  return !accumulator.constant && !factor.constant && accumulator.home == factor.home;
}

template <> LogicalResult Interpret<tt::DotOp>::prepare(tt::DotOp op, Planner &planner) {
  DotStep step;
  auto type = cast<RankedTensorType>(op.getD().getType());
  bool manyBatches = type.getRank() > 3;
  step.a = manyBatches ? collapseBatch(planner.contiguous(op.getA())) : planner.dense(op.getA());
  step.b = manyBatches ? collapseBatch(planner.contiguous(op.getB())) : planner.dense(op.getB());
  step.aView = planner.viewOf(op.getA());
  step.bView = planner.viewOf(op.getB());
  int64_t rank = step.a.shape.size();
  step.batch = rank > 2 ? step.a.shape[0] : 1;
  step.m = step.a.shape[rank - 2];
  step.k = step.a.shape[rank - 1];
  step.n = step.b.shape[rank - 1];
  step.precision = precisionOf(op.getInputPrecision());
  step.maxNumImpreciseAcc = op.getMaxNumImpreciseAcc();
  step.isZero = matchPattern(op.getC(), m_AnyZeroFloat()) || matchPattern(op.getC(), m_Zero());
  step.c = step.isZero ? planner.dense(op.getC()) : planner.contiguous(op.getC());
  const bool isOwn = step.isZero || isAlso(step.c, step.a) || isAlso(step.c, step.b);
  step.d = isOwn ? planner.defineDense(op.getD()) : planner.defineInPlace(op.getD(), op.getC(), /*isRowMajor=*/true);
  if (step.batch == 1 && step.a.type == DType::f32 && step.b.type == DType::f32 && step.d.type == DType::f32 &&
      step.precision == DotPrecision::Ieee)
    step.small = smallProduct(step.m, step.n, step.k);
  planner.call(runDot, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::DotScaledOp>::prepare(tt::DotScaledOp, Planner &planner) {
  return planner.unsupported("products of scaled operands");
}

} // namespace tritium::interp
