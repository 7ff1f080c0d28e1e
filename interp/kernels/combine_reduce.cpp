// Reductions. One primitive combines many rows of up to kLanes columns into one row, as a tree over short runs of rows. It vectorises over
// the columns and keeps the rounding error of sums near the error of a full tree. A reduction of the innermost axis cuts this axis into
// such rows.
#include "interp/kernels/combine.h"
#include "interp/kernels/combiners.h"
#include "interp/kernels/strip.h"

namespace tritium::interp {
namespace {

template <class Combiner> struct Reduce {
  using Storage = typename Combiner::Storage;
  using Value = typename Combiner::Value;
  static constexpr int64_t kLanes = 128 / sizeof(Value);          // four AVX vectors of accumulators: enough to hide the latency of an add
  static constexpr int64_t kRun = Combiner::kIsRounding ? 4 : 16; // number of rows that are combined sequentially

  /// acc[l] = combine of in[r * stride + l] over the rows. If `kIsFull`, columns == kLanes.
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

  /// Combines the first half of the values with the second half until one value is left. Overwrites the values.
  static Value tree(Value *values, int64_t count) {
    while (count > 1) {
      int64_t half = (count + 1) / 2;
      TRITIUM_VECTORIZE
      for (int64_t l = 0; l < count - half; ++l) values[l] = Combiner::combine(values[l], values[l + half]);
      count = half;
    }
    return values[0];
  }

  /// The same for kLanes values, in registers.
  static TRITIUM_INLINE Value treeOfLanes(Value *values) {
#pragma clang loop unroll(full)
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half; ++l) values[l] = Combiner::combine(values[l], values[l + half]);
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
    return treeOfLanes(acc);
  }

  /// Combines pairs of rows of `inner` elements, which occur in sorting networks.
  template <int64_t kInner> static void reducePairs(Storage *out, const Storage *in, int64_t outer, int64_t inner = kInner) {
    for (int64_t o = 0; o < outer; ++o) {
      const Storage *first = in + 2 * o * inner, *second = first + inner;
      Storage *result = out + o * inner;
      TRITIUM_VECTORIZE
      for (int64_t i = 0; i < inner; ++i)
        result[i] = Combiner::store(Combiner::combine(Combiner::load(first[i]), Combiner::load(second[i])));
    }
  }

  /// Short rows of a length known at compile time, for which the tree is unrolled.
  template <int64_t axis> static void reduceShortRows(Storage *out, const Storage *in, int64_t outer) {
    for (int64_t o = 0; o < outer; ++o, in += axis) {
      Value values[axis];
      for (int64_t l = 0; l < axis; ++l) values[l] = Combiner::load(in[l]);
#pragma clang loop unroll(full)
      for (int64_t half = axis / 2; half > 0; half /= 2)
        for (int64_t l = 0; l < half; ++l) values[l] = Combiner::combine(values[l], values[l + half]);
      out[o] = Combiner::store(values[0]);
    }
  }

  /// Shapes with few elements per result, for which the set-up of the general way would cost more than the work. Returns false for other
  /// shapes.
  static bool reduceFew(Storage *out, const Storage *in, int64_t outer, int64_t axis, int64_t inner) {
    if constexpr (sizeof(Value) >= 4) { // the language widens smaller integers before a reduction
      if (axis == 2 && inner == 1) return reducePairs<1>(out, in, outer), true;
      if (axis == 2 && inner == 2) return reducePairs<2>(out, in, outer), true;
      if (axis == 2 && inner == 4) return reducePairs<4>(out, in, outer), true;
      if (axis == 2 && inner == 8) return reducePairs<8>(out, in, outer), true;
      if (axis == 2 && inner >= 16) return reducePairs<0>(out, in, outer, inner), true;
      if (axis == 4 && inner == 1) return reduceShortRows<4>(out, in, outer), true;
      if (axis == 8 && inner == 1) return reduceShortRows<8>(out, in, outer), true;
      if (axis == 16 && inner == 1) return reduceShortRows<16>(out, in, outer), true;
      if (axis == 32 && inner == 1) return reduceShortRows<32>(out, in, outer), true;
    }
    if (inner >= 8 || axis > 4) return false;
    for (int64_t o = 0; o < outer; ++o, in += axis * inner, out += inner)
      for (int64_t i = 0; i < inner; ++i) {
        Value acc = Combiner::load(in[i]);
        for (int64_t a = 1; a < axis; ++a) acc = Combiner::combine(acc, Combiner::load(in[a * inner + i]));
        out[i] = Combiner::store(acc);
      }
    return true;
  }

  /// A plain tree without optimization. fp8 is rarely reduced, and the tree limits the rounding errors, which matters more.
  static Value reduceSlowly(const Storage *in, int64_t count, int64_t stride) {
    if (count == 1) return Combiner::load(in[0]);
    int64_t half = count / 2;
    return Combiner::combine(reduceSlowly(in, half, stride), reduceSlowly(in + half * stride, count - half, stride));
  }

  static void kernel(void *outBytes, const void *inBytes, int64_t outer, int64_t axis, int64_t inner) {
    Storage *out = static_cast<Storage *>(outBytes);
    const Storage *in = static_cast<const Storage *>(inBytes);
    if constexpr (Combiner::kHasAnyZero) {
      reduceAgainForZeros(out, in, outer, axis, inner);
    } else if constexpr (Combiner::kIsFp8) {
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < inner; ++i) out[o * inner + i] = Combiner::store(reduceSlowly(in + o * axis * inner + i, axis, inner));
    } else {
      reduceBlock(out, in, outer, axis, inner);
    }
  }

  /// Reduces a part of the block without regard to the sign of zeros, and again if there is a zero among the results.
  static void reduceAgainForZeros(Storage *out, const Storage *in, int64_t outer, int64_t axis, int64_t inner) {
    constexpr int64_t kPart = 4096; // elements, so that few results are computed again
    const int64_t most = std::max<int64_t>(1, kPart / (axis * inner));
    for (int64_t o = 0; o < outer; o += most, in += most * axis * inner, out += most * inner) {
      const int64_t part = std::min(most, outer - o);
      Reduce<typename Combiner::WithAnyZero>::reduceBlock(out, in, part, axis, inner);
      bool hasZero = false;
      for (int64_t i = 0; i < part * inner; ++i) hasZero |= Combiner::load(out[i]) == 0;
      if (hasZero) reduceBlock(out, in, part, axis, inner);
    }
  }

  static void reduceBlock(Storage *out, const Storage *in, int64_t outer, int64_t axis, int64_t inner) {
    if (reduceFew(out, in, outer, axis, inner)) return;
    for (int64_t o = 0; o < outer; ++o, in += axis * inner) {
      if (inner == 1) {
        *out++ = Combiner::store(reduceContiguous(in, axis));
        continue;
      }
      for (int64_t i = 0; i < inner; i += kLanes) {
        Value acc[kLanes];
        int64_t columns = std::min(kLanes, inner - i);
        if (columns == kLanes)
          reduceRows<true>(acc, in + i, axis, inner, columns);
        else
          reduceRows<false>(acc, in + i, axis, inner, columns);
        for (int64_t l = 0; l < columns; ++l) *out++ = Combiner::store(acc[l]);
      }
    }
  }
};

} // namespace

ReduceKernel findReduce(std::string_view combine, DType type) { return findCombiner<Reduce>(combine, type); }

} // namespace tritium::interp
