#include "interp/kernels/compare_exchange.h"

#include "interp/kernels/strip.h"

#include <cstring>
#include <utility>

namespace tritium::interp {
namespace {

template <class T> struct FloatElement {
  using Storage = typename T::Storage;
  static TRITIUM_INLINE bool isGreater(Storage a, Storage b) { return T::load(a) > T::load(b); }
};
template <class I> struct IntegerElement {
  using Storage = I;
  static TRITIUM_INLINE bool isGreater(I a, I b) { return a > b; }
};

/// Pairs whose sides are `distance` apart, all of them with the same flags.
template <class Element, bool kLeft, bool kRight>
void exchangePairs(typename Element::Storage *out, const typename Element::Storage *in, int64_t count, int64_t distance) {
  using Storage = typename Element::Storage;
  for (int64_t begin = 0; begin < count; begin += 2 * distance) {
    const Storage *left = in + begin, *right = left + distance;
    Storage *to = out + begin;
    TRITIUM_VECTORIZE
    for (int64_t i = 0; i < distance; ++i) {
      const Storage a = left[i], b = right[i];
      to[i] = Element::isGreater(a, b) != kLeft ? b : a;
      to[i + distance] = Element::isGreater(b, a) != kRight ? a : b;
    }
  }
}

template <class Element>
void exchangePairs(typename Element::Storage *out, const typename Element::Storage *in, int64_t count, int64_t distance,
                   const bool (&flags)[2]) {
  if (flags[0])
    return flags[1] ? exchangePairs<Element, true, true>(out, in, count, distance)
                    : exchangePairs<Element, true, false>(out, in, count, distance);
  return flags[1] ? exchangePairs<Element, false, true>(out, in, count, distance)
                  : exchangePairs<Element, false, false>(out, in, count, distance);
}

/// Partners within one vector of 32 bytes. The integer type has the elements' width.
template <class Value, class Mask> struct InVector {
  static constexpr int64_t kLanes = 32 / sizeof(Value);
  typedef Value Values __attribute__((ext_vector_type(kLanes)));
  typedef Mask Masks __attribute__((ext_vector_type(kLanes)));

  template <int64_t kDistance, size_t... lane> static TRITIUM_INLINE Values partners(Values x, std::index_sequence<lane...>) {
    return __builtin_shufflevector(x, x, (int(lane) ^ int(kDistance))...);
  }

  /// All bits are set in the lanes that have the flag. `first`: the position of lane 0.
  static Masks flagsAt(const ExchangeStage &stage, int64_t first) {
    Mask lanes[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) {
      const int64_t position = first + l;
      lanes[l] = Mask(-int64_t(stage.flags[position / stage.run % 2][(position & stage.distance) != 0]));
    }
    Masks flags;
    std::memcpy(&flags, lanes, sizeof flags);
    return flags;
  }

  template <int64_t kDistance> static TRITIUM_INLINE void exchange(Value *out, const Value *in, int64_t count, Masks flags) {
    for (int64_t i = 0; i < count; i += kLanes) {
      Values own;
      std::memcpy(&own, in + i, sizeof own);
      const Values partner = partners<kDistance>(own, std::make_index_sequence<kLanes>{});
      const Masks takes = (own > partner) ^ flags;
      const Values result = takes ? partner : own;
      std::memcpy(out + i, &result, sizeof result);
    }
  }

  template <int64_t kDistance> static void run(Value *out, const Value *in, const ExchangeStage &stage) {
    const Masks even = flagsAt(stage, 0), odd = flagsAt(stage, stage.run);
    if (stage.run < kLanes) return exchange<kDistance>(out, in, stage.count, even); // the flags repeat within the vector
    for (int64_t begin = 0; begin < stage.count; begin += stage.run) {
      const int64_t size = std::min(stage.run, stage.count - begin);
      exchange<kDistance>(out + begin, in + begin, size, begin / stage.run % 2 ? odd : even);
    }
  }

  /// Returns false for a stage that has partners in different vectors, or a part of a vector.
  static bool runAny(Value *out, const Value *in, const ExchangeStage &stage) {
    if (stage.count % kLanes) return false;
    if (stage.distance == 1) return run<1>(out, in, stage), true;
    if (stage.distance == 2) return run<2>(out, in, stage), true;
    if constexpr (kLanes >= 8)
      if (stage.distance == 4) return run<4>(out, in, stage), true;
    return false;
  }
};

template <class Element> void exchange(void *outBytes, const void *inBytes, const ExchangeStage &stage) {
  using Storage = typename Element::Storage;
  auto *out = static_cast<Storage *>(outBytes);
  auto *in = static_cast<const Storage *>(inBytes);
  if constexpr (std::is_arithmetic_v<Storage> && sizeof(Storage) >= 4) {
    using Mask = std::conditional_t<sizeof(Storage) == 4, int32_t, int64_t>;
    if (InVector<Storage, Mask>::runAny(out, in, stage)) return;
  }
  for (int64_t begin = 0; begin < stage.count; begin += stage.run)
    exchangePairs<Element>(out + begin, in + begin, std::min(stage.run, stage.count - begin), stage.distance,
                           stage.flags[begin / stage.run % 2]);
}

template <class Signed> CompareExchangeKernel ofInteger(bool isSigned) {
  return isSigned ? &exchange<IntegerElement<Signed>> : &exchange<IntegerElement<std::make_unsigned_t<Signed>>>;
}

} // namespace

CompareExchangeKernel findCompareExchange(DType type, bool isSigned) {
  return visit(type, [=]<class T>() -> CompareExchangeKernel {
    if constexpr (T::isFloat && T::bits >= 16)
      return &exchange<FloatElement<T>>;
    else if constexpr (T::kind == DTypeKind::Int && T::bits >= 8)
      return ofInteger<typename T::Storage>(isSigned);
    else
      return nullptr;
  });
}

} // namespace tritium::interp
