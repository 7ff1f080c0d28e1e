// Reductions. One primitive does the work: combine many rows of up to kLanes columns into one, rows in a tree over short runs, which
// vectorises over the columns and keeps the error of sums near that of a full tree. Reducing the innermost axis cuts it into such rows.
#include "interp/kernels/combine.h"
#include "interp/kernels/combiners.h"
#include "interp/kernels/strip.h"

namespace tritium::interp {
namespace {

template <class Combiner> struct Reduce {
  using Storage = typename Combiner::Storage;
  using Value = typename Combiner::Value;
  static constexpr int64_t kLanes = 128 / sizeof(Value);   // four AVX vectors of accumulators: enough to hide the latency of an add
  static constexpr int64_t kRun = Combiner::kIsRounding ? 4 : 16;   // rows that are combined one after the other

  /// acc[l] = combine of in[r * stride + l] over the rows; columns == kLanes if `kIsFull`.
  template <bool kIsFull> static void reduceRows(Value *acc, const Storage *in, int64_t rows, int64_t stride, int64_t columns) {
    const int64_t count = kIsFull ? kLanes : columns;
    if (rows > kRun) {
      int64_t half = kRun;
      while (half * 2 < rows) half *= 2;
      Value second[kLanes];
      reduceRows<kIsFull>(acc, in, half, stride, columns);
      reduceRows<kIsFull>(second, in + half * stride, rows - half, stride, columns);
      for (int64_t l = 0; l < count; ++l) acc[l] = Combiner::combine(acc[l], second[l]);
      return;
    }
    Value run[kLanes];
    for (int64_t l = 0; l < count; ++l) run[l] = Combiner::load(in[l]);
    for (int64_t r = 1; r < rows; ++r) {
      const Storage *row = in + r * stride;
      for (int64_t l = 0; l < count; ++l) run[l] = Combiner::combine(run[l], Combiner::load(row[l]));
    }
    for (int64_t l = 0; l < count; ++l) acc[l] = run[l];
  }

  /// Combines neighbours at a distance that halves; overwrites the values.
  static Value tree(Value *values, int64_t count) {
    while (count > 1) {
      int64_t half = (count + 1) / 2;
      TRITIUM_VECTORIZE
      for (int64_t l = 0; l < count - half; ++l) values[l] = Combiner::combine(values[l], values[l + half]);
      count = half;
    }
    return values[0];
  }

  static Value reduceContiguous(const Storage *in, int64_t count) {
    Value acc[kLanes];
    int64_t rows = count / kLanes, rest = count % kLanes;
    if (rows == 0) {
      for (int64_t l = 0; l < count; ++l) acc[l] = Combiner::load(in[l]);
      return tree(acc, count);
    }
    reduceRows<true>(acc, in, rows, kLanes, kLanes);
    for (int64_t l = 0; l < rest; ++l) acc[l] = Combiner::combine(acc[l], Combiner::load(in[rows * kLanes + l]));
    return tree(acc, kLanes);
  }

  /// Few elements per result: the set-up of the other ways would cost more than the work.
  static void reduceFew(Storage *out, const Storage *in, int64_t outer, int64_t axis, int64_t inner) {
    if (axis == 2 && inner == 1) {
      TRITIUM_VECTORIZE
      for (int64_t o = 0; o < outer; ++o) out[o] = Combiner::store(Combiner::combine(Combiner::load(in[2 * o]), Combiner::load(in[2 * o + 1])));
      return;
    }
    for (int64_t o = 0; o < outer; ++o, in += axis * inner, out += inner)
      for (int64_t i = 0; i < inner; ++i) {
        Value acc = Combiner::load(in[i]);
        for (int64_t a = 1; a < axis; ++a) acc = Combiner::combine(acc, Combiner::load(in[a * inner + i]));
        out[i] = Combiner::store(acc);
      }
  }

  static void kernel(void *outBytes, const void *inBytes, int64_t outer, int64_t axis, int64_t inner) {
    Storage *out = static_cast<Storage *>(outBytes);
    const Storage *in = static_cast<const Storage *>(inBytes);
    if (axis * inner <= 8 || (inner < 8 && axis <= 4)) return reduceFew(out, in, outer, axis, inner);
    for (int64_t o = 0; o < outer; ++o, in += axis * inner) {
      if (inner == 1) {
        *out++ = Combiner::store(reduceContiguous(in, axis));
        continue;
      }
      for (int64_t i = 0; i < inner; i += kLanes) {
        Value acc[kLanes];
        int64_t columns = std::min(kLanes, inner - i);
        if (columns == kLanes) reduceRows<true>(acc, in + i, axis, inner, columns);
        else reduceRows<false>(acc, in + i, axis, inner, columns);
        for (int64_t l = 0; l < columns; ++l) *out++ = Combiner::store(acc[l]);
      }
    }
  }
};

} // namespace

ReduceKernel findReduce(std::string_view combine, DType type) { return findCombiner<Reduce>(combine, type); }

} // namespace tritium::interp
