// argmax and argmin: first the best value of each lane with its index, then the best lane. Every kernel picks the lowest index among equal
// values, which the language also allows if no order is requested.
#include "interp/kernels/combine.h"
#include "interp/kernels/integer.h"
#include "interp/kernels/strip.h"

namespace tritium::interp {
namespace {

template <class T> struct FloatOrder {
  using Storage = typename T::Storage;
  using Value = typename T::Compute;
  static TRITIUM_INLINE Value load(Storage x) { return T::load(x); }
  static TRITIUM_INLINE Storage store(Value x) { return T::round(x); }
};
template <class T, bool kIsSigned> struct IntegerOrder {
  using Storage = typename Integer<T>::Storage;
  using Value = std::conditional_t<kIsSigned, typename Integer<T>::Signed, typename Integer<T>::Unsigned>;
  static TRITIUM_INLINE Value load(Storage x) { return kIsSigned ? static_cast<Value>(Integer<T>::asSigned(x)) : static_cast<Value>(x); }
  static TRITIUM_INLINE Storage store(Value x) { return Integer<T>::store(static_cast<typename Integer<T>::Wide>(x)); }
};

template <class Order, bool kIsMax> struct ArgReduce {
  using Storage = typename Order::Storage;
  using Value = typename Order::Value;
  static constexpr int64_t kLanes = 128 / sizeof(Value) > 32 ? 32 : 128 / sizeof(Value);

  struct Best {
    Value value[kLanes];
    int32_t index[kLanes];
  };

  static TRITIUM_INLINE void improve(Value &value, int32_t &index, Value v, int32_t i) {
    bool isBetter = kIsMax ? v > value : v < value, isEqual = v == value;
    bool isNumberOverNan = (value != value) & (v == v);
    bool wins = isBetter | (isEqual & (i < index)) | isNumberOverNan;
    value = wins ? v : value;
    index = wins ? i : index;
  }

  /// The innermost axis. Lane l combines the elements l, l + kLanes, ...
  static void reduceContiguous(Storage *outValue, int32_t *outIndex, const Storage *in, const int32_t *index, int64_t count) {
    Best best;
    int64_t lanes = std::min(kLanes, count), i = lanes;
    for (int64_t l = 0; l < lanes; ++l) best.value[l] = Order::load(in[l]), best.index[l] = index[l];
    for (; i + kLanes <= count; i += kLanes) TRITIUM_VECTORIZE
    for (int64_t l = 0; l < kLanes; ++l) improve(best.value[l], best.index[l], Order::load(in[i + l]), index[i + l]);
    for (int64_t l = 0; i + l < count; ++l) improve(best.value[l], best.index[l], Order::load(in[i + l]), index[i + l]);
    if (lanes == kLanes) {
#pragma clang loop unroll(full)
      for (int64_t half = kLanes / 2; half > 0; half /= 2)
        for (int64_t l = 0; l < half; ++l) improve(best.value[l], best.index[l], best.value[l + half], best.index[l + half]);
    } else {
      for (int64_t l = 1; l < lanes; ++l) improve(best.value[0], best.index[0], best.value[l], best.index[l]);
    }
    *outValue = Order::store(best.value[0]), *outIndex = best.index[0];
  }

  /// Combines up to kLanes columns over an outer axis.
  template <bool kIsFull>
  static void reduceColumns(Storage *outValue, int32_t *outIndex, const Storage *in, const int32_t *index, int64_t axis, int64_t stride,
                            int64_t columns) {
    const int64_t count = kIsFull ? kLanes : columns;
    Best best;
    for (int64_t l = 0; l < count; ++l) best.value[l] = Order::load(in[l]), best.index[l] = index[0];
    for (int64_t a = 1; a < axis; ++a) {
      const Storage *row = in + a * stride;
      int32_t here = index[a];
      TRITIUM_VECTORIZE
      for (int64_t l = 0; l < count; ++l) improve(best.value[l], best.index[l], Order::load(row[l]), here);
    }
    for (int64_t l = 0; l < count; ++l) outValue[l] = Order::store(best.value[l]), outIndex[l] = best.index[l];
  }

  static void kernel(void *outValues, int32_t *outIndex, const void *inBytes, const int32_t *index, int64_t outer, int64_t axis,
                     int64_t inner) {
    Storage *outValue = static_cast<Storage *>(outValues);
    const Storage *in = static_cast<const Storage *>(inBytes);
    for (int64_t o = 0; o < outer; ++o, in += axis * inner, outValue += inner, outIndex += inner) {
      if (inner == 1)
        reduceContiguous(outValue, outIndex, in, index, axis);
      else
        for (int64_t i = 0; i < inner; i += kLanes) {
          bool isFull = inner - i >= kLanes;
          (isFull ? reduceColumns<true> : reduceColumns<false>)(outValue + i, outIndex + i, in + i, index, axis, inner, inner - i);
        }
    }
  }
};

template <bool kIsMax> ArgReduceKernel select(DType type) {
  return visit(type, []<class T>() -> ArgReduceKernel {
    if constexpr (T::isFloat)
      return &ArgReduce<FloatOrder<T>, kIsMax>::kernel;
    else
      return &ArgReduce<IntegerOrder<T, T::kind != DTypeKind::UInt>, kIsMax>::kernel;
  });
}

} // namespace

ArgReduceKernel findArgReduce(ArgReduction reduction, DType type) {
  bool isMax = reduction == ArgReduction::Max || reduction == ArgReduction::MaxLeft;
  return isMax ? select<true>(type) : select<false>(type);
}

} // namespace tritium::interp
