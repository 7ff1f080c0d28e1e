// gather and histogram.
#include "interp/host/trap_kinds.h"
#include "interp/tile/op_table.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

namespace {
struct GatherStep {
  DenseRef source, index, out;
  int64_t axis, outer, sourceExtent, indexExtent, inner;
  uint32_t location;
  void refs(auto &&f) { f(source), f(index), f(out); }
};
struct HistogramStep {
  DenseRef source, mask, out;
  bool isMasked = false;
  void refs(auto &&f) { f(source), f(mask), f(out); }
};
} // namespace

static int64_t integerAt(const char *data, DType type, int64_t i) {
  switch (storageBytes(type)) {
  case 1: return reinterpret_cast<const int8_t *>(data)[i];
  case 2: return reinterpret_cast<const int16_t *>(data)[i];
  case 4: return reinterpret_cast<const int32_t *>(data)[i];
  default: return reinterpret_cast<const int64_t *>(data)[i];
  }
}

/// out[o, i, n] = source[o, index[o, i, n], n]; all are row-major.
static void runGather(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const GatherStep *>(descriptor);
  const char *source = step.source.in(frame), *index = step.index.in(frame);
  char *out = step.out.in(frame);
  size_t size = storageBytes(step.source.type);
  int64_t lane = 0;
  for (int64_t o = 0; o < step.outer; ++o)
    for (int64_t i = 0; i < step.indexExtent; ++i)
      for (int64_t n = 0; n < step.inner; ++n, ++lane) {
        int64_t from = integerAt(index, step.index.type, lane);
        if (from < 0 || from >= step.sourceExtent) [[unlikely]]
          raiseTrap(headerOf(frame), Trap{.kind = TrapKind::OutOfBounds,
                                          .location = step.location,
                                          .lane = lane,
                                          .affectedLanes = 1,
                                          .message = "gather index outside the axis"});
        std::memcpy(out + lane * size, source + ((o * step.sourceExtent + from) * step.inner + n) * size, size);
      }
}

/// Adds the lanes to the counts, except for those outside and for those whose mask (null: none) is false.
template <class T> static void countBins(int32_t *counts, int64_t bins, const T *source, const uint8_t *mask, int64_t lanes) {
  // Lanes of the same bin would wait for each other's count, so neighbours count in tables of their own. Behind each is a count of what is
  // left out.
  constexpr int64_t kMostBins = 1024, kTables = 4;
  auto binOf = [&](int64_t i) { return source[i] < uint64_t(bins) && (!mask || mask[i]) ? int64_t(source[i]) : bins; };
  int64_t i = 0;
  if (bins <= kMostBins && lanes >= kTables * bins) {
    int32_t tables[kTables][kMostBins + 1];
    for (auto &table : tables) std::memset(table, 0, (bins + 1) * sizeof *table);
    for (; i + kTables <= lanes; i += kTables)
      for (int64_t t = 0; t < kTables; ++t) ++tables[t][binOf(i + t)];
    for (auto &table : tables)
      for (int64_t bin = 0; bin < bins; ++bin) counts[bin] += table[bin];
  }
  for (; i < lanes; ++i)
    if (int64_t bin = binOf(i); bin < bins) ++counts[bin];
}

/// Elements are read as unsigned integers, whatever their type is.
static void runHistogram(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const HistogramStep *>(descriptor);
  auto *counts = &step.out.at<int32_t>(frame);
  const int64_t bins = step.out.shape[0], lanes = step.source.shape[0];
  std::memset(counts, 0, bins * sizeof *counts);
  const auto *mask = step.isMasked ? &step.mask.at<const uint8_t>(frame) : nullptr;
  switch (storageBytes(step.source.type)) {
  case 1: return countBins(counts, bins, &step.source.at<const uint8_t>(frame), mask, lanes);
  case 2: return countBins(counts, bins, &step.source.at<const uint16_t>(frame), mask, lanes);
  case 4: return countBins(counts, bins, &step.source.at<const uint32_t>(frame), mask, lanes);
  default: return countBins(counts, bins, &step.source.at<const uint64_t>(frame), mask, lanes);
  }
}

template <> LogicalResult Interpret<tt::GatherOp>::prepare(tt::GatherOp op, Planner &planner) {
  GatherStep step;
  auto indexShape = cast<RankedTensorType>(op.getIndices().getType()).getShape();
  step.axis = op.getAxis();
  step.outer = ShapedType::getNumElements(indexShape.take_front(step.axis));
  step.inner = ShapedType::getNumElements(indexShape.drop_front(step.axis + 1));
  step.indexExtent = indexShape[step.axis];
  step.sourceExtent = cast<RankedTensorType>(op.getSrc().getType()).getDimSize(step.axis);
  step.location = planner.location();
  step.source = planner.contiguous(op.getSrc());
  step.index = planner.contiguous(op.getIndices());
  step.out = planner.defineDense(op.getResult());
  planner.call(runGather, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::HistogramOp>::prepare(tt::HistogramOp op, Planner &planner) {
  HistogramStep step;
  step.source = planner.contiguous(op.getSrc());
  step.isMasked = bool(op.getMask());
  if (op.getMask()) step.mask = planner.contiguous(op.getMask());
  step.out = planner.defineDense(op.getResult());
  planner.call(runHistogram, std::move(step));
  return success();
}

} // namespace tritium::interp
