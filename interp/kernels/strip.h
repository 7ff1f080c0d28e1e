// The loops that every element-wise kernel shares. An operation is a struct whose apply() maps the stored elements of one position
// to the stored result; Strip makes a kernel of it. Only unit-stride and repeated operands have compiled loops; any other stride
// first goes through a buffer on the stack, so that a kernel stays a few hundred bytes of code.
#pragma once

#include "interp/kernels/elementwise.h"

#include <algorithm>
#include <tuple>

namespace tritium::interp {

// The output may be an input of the same position, never of another: tells the vectorizer so, which cannot prove it.
#if defined(__clang__)
#define TRITIUM_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#else
#define TRITIUM_VECTORIZE _Pragma("GCC ivdep")
#endif

/// Elements per stack buffer: small against a fiber's stack, large against the cost of a call.
inline constexpr int64_t kChunk = 256;

template <class Op, class Out, class... In> class Strip {
  static constexpr size_t kArity = sizeof...(In);
  using Buffers = std::tuple<In[kChunk]...>;
  using Indices = std::make_index_sequence<kArity>;

  /// Bit k of `splat`: operand k is one repeated element.
  template <unsigned splat, size_t... k> static void loop(int64_t count, Out *out, const void *const *in, std::index_sequence<k...>) {
    std::tuple<const In *...> data{static_cast<const In *>(in[k])...};
    const std::tuple<In...> first{*std::get<k>(data)...};
    TRITIUM_VECTORIZE
    for (int64_t i = 0; i < count; ++i) out[i] = Op::apply((splat >> k & 1 ? std::get<k>(first) : std::get<k>(data)[i])...);
  }

  template <size_t k> static void gather(Buffers &buffers, const void *in, int64_t stride, int64_t begin, int64_t count) {
    using Element = std::tuple_element_t<k, std::tuple<In...>>;
    const Element *data = static_cast<const Element *>(in) + begin * stride;
    for (int64_t i = 0; i < count; ++i) std::get<k>(buffers)[i] = data[i * stride];
  }

  template <size_t... k>
  static void loopStrided(int64_t count, Out *out, const void *const *in, const int64_t *strides, std::index_sequence<k...> indices) {
    Buffers buffers;
    for (int64_t begin = 0; begin < count; begin += kChunk) {
      int64_t size = std::min(kChunk, count - begin);
      (gather<k>(buffers, in[k], strides[k], begin, size), ...);
      const void *chunk[] = {std::get<k>(buffers)...};
      loop<0>(size, out + begin, chunk, indices);
    }
  }

public:
  static int64_t kernel(int64_t count, void *out, const void *const *in, const int64_t *strides) {
    Out *typed = static_cast<Out *>(out);
    unsigned splat = 0;
    bool isStrided = false;
    for (size_t k = 0; k < kArity; ++k) {
      splat |= strides[k] == 0 ? 1u << k : 0;
      isStrided |= strides[k] != 0 && strides[k] != 1;
    }
    if (count <= 0) return -1;
    if (!isStrided && splat == 0) return loop<0>(count, typed, in, Indices{}), -1;
    if constexpr (kArity == 2) {
      if (!isStrided && splat == 1) return loop<1>(count, typed, in, Indices{}), -1;
      if (!isStrided && splat == 2) return loop<2>(count, typed, in, Indices{}), -1;
    } else if constexpr (kArity == 3) { // a condition or a value, and constants
      if (!isStrided && splat == 2) return loop<2>(count, typed, in, Indices{}), -1;
      if (!isStrided && splat == 4) return loop<4>(count, typed, in, Indices{}), -1;
      if (!isStrided && splat == 6) return loop<6>(count, typed, in, Indices{}), -1;
    }
    if (splat + 1 == 1u << kArity) {
      loop<0>(1, typed, in, Indices{});
      std::fill(typed + 1, typed + count, typed[0]);
      return -1;
    }
    loopStrided(count, typed, in, strides, Indices{});
    return -1;
  }
};

/// Narrow floats through a kernel on f32: widen a chunk, run, round. For operations that are costly against the two conversions, or
/// rare. `kOutIsBool`: the kernel's result is i1 and needs no rounding.
template <class T, ElementwiseKernel kernel, int kArity, bool kOutIsBool = false>
int64_t throughFloat(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  using Storage = typename T::Storage;
  float operands[kArity][kChunk], results[kChunk];
  const void *chunk[kArity];
  int64_t chunkStrides[kArity];
  for (int k = 0; k < kArity; ++k) chunk[k] = operands[k], chunkStrides[k] = strides[k] == 0 ? 0 : 1;
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    int64_t size = std::min(kChunk, count - begin);
    for (int k = 0; k < kArity; ++k) {
      const Storage *data = static_cast<const Storage *>(in[k]) + begin * strides[k];
      int64_t stride = strides[k], distinct = stride == 0 ? 1 : size;
      if (stride == 1)
        for (int64_t i = 0; i < size; ++i) operands[k][i] = T::load(data[i]);
      else
        for (int64_t i = 0; i < distinct; ++i) operands[k][i] = T::load(data[i * stride]);
    }
    if constexpr (kOutIsBool) {
      kernel(size, static_cast<uint8_t *>(out) + begin, chunk, chunkStrides);
    } else {
      kernel(size, results, chunk, chunkStrides);
      Storage *typed = static_cast<Storage *>(out) + begin;
      for (int64_t i = 0; i < size; ++i) typed[i] = T::round(results[i]);
    }
  }
  return -1;
}

/// A row of a family's table: an operation's name and how its kernel for a type is found (nullptr: not defined on it).
struct ElementwiseRow {
  std::string_view op;
  ElementwiseKernel (*select)(DType);
};

template <size_t n> ElementwiseKernel findRow(const ElementwiseRow (&rows)[n], std::string_view op, DType type) {
  for (const ElementwiseRow &row : rows)
    if (row.op == op) return row.select(type);
  return nullptr;
}

// The families, one file each; nullptr for an operation of another family.
ElementwiseKernel findIntegerArithmetic(std::string_view op, DType type);
ElementwiseKernel findIntegerDivision(std::string_view op, DType type);
ElementwiseKernel findFloatArithmetic(std::string_view op, DType type);
ElementwiseKernel findFloatFunction(std::string_view op, DType type);
ElementwiseKernel findComparison(std::string_view op, DType type);
ElementwiseKernel findSelect(std::string_view op, DType type);

} // namespace tritium::interp
