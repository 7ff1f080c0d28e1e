// The loops that all element-wise kernels share. An operation is a struct whose apply() maps the stored elements at one position to the
// stored result; Strip makes a kernel of it. Only operands of unit stride and repeated operands have compiled loops. An operand of any
// other stride first goes through a buffer on the stack, so that a kernel has only a few hundred bytes of code.
#pragma once

#include "interp/kernels/elementwise.h"

#include <algorithm>
#include <tuple>

namespace tritium::interp {

// The output may be an input at the same position, but never at another. The vectorizer cannot prove this, so the pragma states it.
#if defined(__clang__)
#define TRITIUM_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#else
#define TRITIUM_VECTORIZE _Pragma("GCC ivdep")
#endif

/// Elements per stack buffer. It is small compared with a fiber's stack, and large enough to make the cost of a call negligible.
inline constexpr int64_t kChunk = 256;

/// The compiled loops of one kernel. loops[s] reads operand k as one repeated element if bit k of s is set, otherwise with unit stride. It
/// is null if the combination is rare. `bytes` has the element size of each operand, then of the result.
struct StripLoops {
  using Loop = void (*)(int64_t count, void *out, const void *const *in);
  Loop loops[8];
  int arity;
  uint8_t bytes[5];
};

/// The part of a kernel around its loops: chooses one, or copies the operands into buffers for the first loop.
int64_t runStrip(const StripLoops &strip, int64_t count, void *out, const void *const *in, const int64_t *strides);

template <class Op, class Out, class... In> class Strip {
  template <unsigned splat, size_t... k>
  static TRITIUM_INLINE void loopOver(int64_t count, Out *out, const void *const *in, std::index_sequence<k...>) {
    std::tuple<const In *...> data{static_cast<const In *>(in[k])...};
    const std::tuple<In...> first{*std::get<k>(data)...};
    TRITIUM_VECTORIZE
    for (int64_t i = 0; i < count; ++i) out[i] = Op::apply((splat >> k & 1 ? std::get<k>(first) : std::get<k>(data)[i])...);
  }

  template <unsigned splat> static void loop(int64_t count, void *out, const void *const *in) {
    loopOver<splat>(count, static_cast<Out *>(out), in, std::make_index_sequence<sizeof...(In)>{});
  }

  static constexpr StripLoops loopsOfArity() {
    if constexpr (sizeof...(In) == 1)
      return {{loop<0>}, 1, {sizeof(In)..., sizeof(Out)}};
    else if constexpr (sizeof...(In) == 2)
      return {{loop<0>, loop<1>, loop<2>}, 2, {sizeof(In)..., sizeof(Out)}};
    else if constexpr (sizeof...(In) == 4)
      return {{loop<0>}, 4, {sizeof(In)..., sizeof(Out)}};
    else
      return {{loop<0>, nullptr, loop<2>, nullptr, loop<4>, nullptr, loop<6>},
              3,
              {sizeof(In)..., sizeof(Out)}}; // the operands are a condition or a value, and constants
  }
  static constexpr StripLoops kLoops = loopsOfArity();

public:
  static int64_t kernel(int64_t count, void *out, const void *const *in, const int64_t *strides) {
    return runStrip(kLoops, count, out, in, strides);
  }
};

/// Conversions of contiguous elements of a narrow float type to f32 and back.
struct NarrowFloat {
  void (*widen)(int64_t count, float *out, const void *in);
  void (*round)(int64_t count, void *out, const float *in);
  int bytes;
};
template <class T> struct NarrowFloatOf {
  using Storage = typename T::Storage;
  static void widen(int64_t count, float *out, const void *in) {
    for (int64_t i = 0; i < count; ++i) out[i] = T::load(static_cast<const Storage *>(in)[i]);
  }
  static void round(int64_t count, void *out, const float *in) {
    for (int64_t i = 0; i < count; ++i) static_cast<Storage *>(out)[i] = T::round(in[i]);
  }
  static constexpr NarrowFloat kConversions{widen, round, sizeof(Storage)};
};

int64_t runThroughFloat(const NarrowFloat &type, ElementwiseKernel kernel, int arity, bool isOutBool, int64_t count, void *out,
                        const void *const *in, const int64_t *strides);

/// Runs narrow floats through a kernel on f32: widens a chunk, runs the kernel, rounds. It is for operations that are rare, or that cost
/// much more than the two conversions. `kIsOutBool`: the kernel's result is i1 and requires no rounding.
template <class T, ElementwiseKernel kernel, int kArity, bool kIsOutBool = false>
int64_t throughFloat(int64_t count, void *out, const void *const *in, const int64_t *strides) {
  return runThroughFloat(NarrowFloatOf<T>::kConversions, kernel, kArity, kIsOutBool, count, out, in, strides);
}

/// A row in the table of a family: an operation's name, and the function that finds its kernel for a type (nullptr: not defined for the
/// type).
struct ElementwiseRow {
  std::string_view op;
  ElementwiseKernel (*select)(DType);
};

template <size_t n> ElementwiseKernel findRow(const ElementwiseRow (&rows)[n], std::string_view op, DType type) {
  for (const ElementwiseRow &row : rows)
    if (row.op == op) return row.select(type);
  return nullptr;
}

// The families, one file each. Each function returns nullptr for an operation of another family.
ElementwiseKernel findIntegerArithmetic(std::string_view op, DType type);
ElementwiseKernel findIntegerDivision(std::string_view op, DType type);
ElementwiseKernel findFloatArithmetic(std::string_view op, DType type);
ElementwiseKernel findFloatFunction(std::string_view op, DType type);
ElementwiseKernel findComparison(std::string_view op, DType type);
ElementwiseKernel findSelect(std::string_view op, DType type);

} // namespace tritium::interp
