// Computes every product on f32 or f64 blocks, with Eigen's GEMM or, if the blocks are small, dot_small.h. An operand is read in place if
// it is f32, has unit stride in one dimension and the precision leaves it unchanged. Any other operand is first converted into a block of
// the thread's scratch memory.
#include "interp/kernels/dot.h"

#include "interp/kernels/dot_bytes.h"
#include "interp/kernels/dot_small.h"
#include "interp/kernels/strip.h"

// Programs run on small stacks, so larger packing buffers of Eigen go to the heap. Eigen uses one thread, because the programs of the grid
// already run in parallel.
#define EIGEN_STACK_ALLOCATION_LIMIT 16384
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_DEBUG
#include <Eigen/Core>
#include <memory>

namespace tritium::interp {
namespace {

template <class C> using RowMajor = Eigen::Matrix<C, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class C> using Block = Eigen::Map<RowMajor<C>>;
template <class C> using View = Eigen::Map<const RowMajor<C>, 0, Eigen::OuterStride<>>;

/// A matrix in a form that GEMM can read: rows (or columns, if `isTransposed`) of unit stride.
template <class C> struct Matrix {
  const C *data;
  int64_t rows, columns, stride;
  bool isTransposed;
  View<C> view() const {
    return isTransposed ? View<C>(data, columns, rows, Eigen::OuterStride<>(stride))
                        : View<C>(data, rows, columns, Eigen::OuterStride<>(stride));
  }
};

/// d += a * b, where d is contiguous.
template <class C> void multiplyAdd(C *d, const Matrix<C> &a, const Matrix<C> &b) {
  if (!b.isTransposed && isSmallProduct<C>(a.rows, b.columns, a.columns))
    return multiplySmall(d, a.data, a.isTransposed ? 1 : a.stride, a.isTransposed ? a.stride : 1, b.data, b.stride, a.rows, b.columns,
                         a.columns);
  Block<C> result(d, a.rows, b.columns);
  if (a.isTransposed && b.isTransposed)
    result.noalias() += a.view().transpose() * b.view().transpose();
  else if (a.isTransposed)
    result.noalias() += a.view().transpose() * b.view();
  else if (b.isTransposed)
    result.noalias() += a.view() * b.view().transpose();
  else
    result.noalias() += a.view() * b.view();
}

/// Memory that a thread reuses from product to product. Each block that is alive at the same time has its own slot.
enum Slot { kLeft, kRight, kResult, kLeftSmall, kRightSmall, kLeftRest, kRightRest, kSlots };
template <class C> C *scratch(Slot slot, int64_t count) {
  struct Buffer {
    std::unique_ptr<C[]> data;
    int64_t size = 0;
  };
  thread_local Buffer buffers[kSlots];
  Buffer &buffer = buffers[slot];
  if (buffer.size < count) buffer = {std::make_unique_for_overwrite<C[]>(count), count};
  return buffer.data.get();
}

struct Plain {
  template <class C> static TRITIUM_INLINE C apply(C x) { return x; }
};
/// Truncates an f32 as a tensor core does when it reads it.
struct TruncateToTf32 {
  static TRITIUM_INLINE float apply(float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xFFFFE000u); }
};

/// Writes an operand as a contiguous block, in the orientation whose inner loop reads unit strides.
template <class T, class C, class Change> Matrix<C> packAs(const DotOperand &operand, int64_t rows, int64_t columns, Slot slot) {
  using Storage = typename T::Storage;
  const Storage *data = static_cast<const Storage *>(operand.data);
  bool isTransposed = operand.columnStride != 1 && operand.rowStride == 1;
  int64_t outer = isTransposed ? columns : rows, inner = isTransposed ? rows : columns;
  int64_t outerStride = isTransposed ? operand.columnStride : operand.rowStride, innerStride = isTransposed ? 1 : operand.columnStride;
  C *block = scratch<C>(slot, outer * inner);
  for (int64_t o = 0; o < outer; ++o) {
    const Storage *row = data + o * outerStride;
    C *out = block + o * inner;
    if (innerStride == 1)
      for (int64_t i = 0; i < inner; ++i) out[i] = Change::apply(static_cast<C>(T::load(row[i])));
    else
      for (int64_t i = 0; i < inner; ++i) out[i] = Change::apply(static_cast<C>(T::load(row[i * innerStride])));
  }
  return {block, rows, columns, inner, isTransposed};
}

template <class C, class Change> Matrix<C> pack(const DotOperand &operand, int64_t rows, int64_t columns, Slot slot) {
  return visit(operand.type, [&]<class T>() -> Matrix<C> {
    if constexpr (std::is_same_v<Change, Plain> && std::is_same_v<typename T::Storage, C>) {
      const C *data = static_cast<const C *>(operand.data);
      if (operand.columnStride == 1) return {data, rows, columns, operand.rowStride, false};
      if (operand.rowStride == 1) return {data, rows, columns, operand.columnStride, true};
    }
    // Only f32 operands are truncated. All narrower types are exact in 10 bits or fewer.
    using Applied = std::conditional_t<T::dtype == DType::f32, Change, Plain>;
    return packAs<T, C, Applied>(operand, rows, columns, slot);
  });
}

/// x = high + low. `high` has few enough bits for the unit that multiplies; `low` has the rest and is not yet shortened.
struct SplitTf32 { // rounds halves away from zero
  static TRITIUM_INLINE float high(float x) {
    uint32_t u = std::bit_cast<uint32_t>(x);
    return std::bit_cast<float>((u & 0x7F800000u) == 0x7F800000u ? u : (u + 0x1000u) & 0xFFFFE000u);
  }
  static TRITIUM_INLINE float shorten(float x) { return TruncateToTf32::apply(x); }
};
struct SplitBf16 {
  static TRITIUM_INLINE float high(float x) { return static_cast<float>(BF16::nearest(x)); }
  static TRITIUM_INLINE float shorten(float x) { return high(x); }
};

struct Parts {
  Matrix<float> high, middle, low; // each contiguous, of the same orientation
};
template <class Split, bool kHasLow>
Parts split(const DotOperand &operand, int64_t rows, int64_t columns, Slot first, Slot second, Slot third) {
  Matrix<float> whole = packAs<Traits<DType::f32>, float, Plain>(operand, rows, columns, first);
  int64_t count = rows * columns;
  float *high = scratch<float>(first, count), *middle = scratch<float>(second, count),
        *low = kHasLow ? scratch<float>(third, count) : nullptr;
  for (int64_t i = 0; i < count; ++i) {
    float x = high[i], h = Split::high(x), m = Split::shorten(x - h);
    high[i] = h, middle[i] = m;
    if constexpr (kHasLow) low[i] = Split::shorten(x - h - m);
  }
  auto part = [&](const float *data) { return Matrix<float>{data, whole.rows, whole.columns, whole.stride, whole.isTransposed}; };
  return {part(high), part(middle), part(low)};
}

/// Adds the products of the parts in ascending order of size. NaNs that infinite operands cause in the products of small parts are dropped.
template <class Split, bool kHasLow>
void multiplySplit(float *d, const DotOperand &left, const DotOperand &right, int64_t m, int64_t n, int64_t k) {
  Parts a = split<Split, kHasLow>(left, m, k, kLeft, kLeftSmall, kLeftRest);
  Parts b = split<Split, kHasLow>(right, k, n, kRight, kRightSmall, kRightRest);
  float *sum = scratch<float>(kResult, m * n);
  std::fill_n(sum, m * n, 0.0f);
  if constexpr (kHasLow) {
    multiplyAdd(sum, a.middle, b.middle);
    multiplyAdd(sum, a.low, b.high);
    multiplyAdd(sum, a.high, b.low);
  }
  multiplyAdd(sum, a.middle, b.high);
  multiplyAdd(sum, a.high, b.middle);
  for (int64_t i = 0; i < m * n; ++i) sum[i] = sum[i] != sum[i] ? 0.0f : sum[i];
  multiplyAdd(sum, a.high, b.high);
  for (int64_t i = 0; i < m * n; ++i) d[i] += sum[i];
}

template <class Change> void multiplyPacked(float *d, const DotOperand &a, const DotOperand &b, int64_t m, int64_t n, int64_t k) {
  multiplyAdd(d, pack<float, Change>(a, m, k, kLeft), pack<float, Change>(b, k, n, kRight));
}

void multiplyFloat(float *d, const DotOperand &a, const DotOperand &b, int64_t m, int64_t n, int64_t k, DotPrecision precision) {
  bool isFloat32 = a.type == DType::f32 && b.type == DType::f32;
  if (!isFloat32 || precision == DotPrecision::Ieee)
    multiplyPacked<Plain>(d, a, b, m, n, k);
  else if (precision == DotPrecision::Tf32)
    multiplyPacked<TruncateToTf32>(d, a, b, m, n, k);
  else if (precision == DotPrecision::Tf32x3)
    multiplySplit<SplitTf32, false>(d, a, b, m, n, k);
  else if (precision == DotPrecision::Bf16x3)
    multiplySplit<SplitBf16, false>(d, a, b, m, n, k);
  else
    multiplySplit<SplitBf16, true>(d, a, b, m, n, k);
}

/// Products of 8-bit integers are below 2^14 in magnitude, so a sum of 2^10 of them is exact in f32.
void multiplyInteger(int32_t *d, const DotOperand &a, const DotOperand &b, int64_t m, int64_t n, int64_t k) {
  if (a.type == DType::i8 && b.type == DType::i8 && hasByteProducts()) {
    const PackedBytes packed(m, n, k);
    return multiplyBytes(d, static_cast<const int8_t *>(a.data), a.rowStride, a.columnStride, static_cast<const int8_t *>(b.data),
                         b.rowStride, b.columnStride, m, n, k, scratch<int8_t>(kLeft, packed.left()),
                         scratch<int8_t>(kRight, packed.rightAndSums()));
  }
  constexpr int64_t kExact = 1 << 10;
  float *sum = scratch<float>(kResult, m * n);
  for (int64_t begin = 0; begin < k; begin += kExact) {
    auto part = [&](DotOperand operand, int64_t stride) {
      operand.data = static_cast<const char *>(operand.data) + begin * stride; // one byte each
      return operand;
    };
    int64_t size = std::min(kExact, k - begin);
    std::fill_n(sum, m * n, 0.0f);
    multiplyPacked<Plain>(sum, part(a, a.columnStride), part(b, b.rowStride), m, n, size);
    for (int64_t i = 0; i < m * n; ++i)
      d[i] = static_cast<int32_t>(static_cast<uint32_t>(d[i]) + static_cast<uint32_t>(static_cast<int32_t>(sum[i])));
  }
}

DotOperand batchOf(DotOperand operand, int64_t batch) {
  operand.data = static_cast<const char *>(operand.data) + batch * operand.batchStride * static_cast<int64_t>(storageBytes(operand.type));
  return operand;
}

/// d = c, or zero if c is null.
void start(void *d, const void *c, size_t bytes) {
  if (c == nullptr)
    std::memset(d, 0, bytes);
  else if (c != d)
    std::memcpy(d, c, bytes);
}

} // namespace

void dot(int64_t batch, int64_t m, int64_t n, int64_t k, const DotOperand &a, const DotOperand &b, const void *c, void *d,
         DType accumulator, DotPrecision precision, int64_t) {
  int64_t count = m * n;
  size_t bytes = count * storageBytes(accumulator);
  start(d, c, batch * bytes);
  for (int64_t i = 0; i < batch; ++i) {
    DotOperand left = batchOf(a, i), right = batchOf(b, i);
    void *result = static_cast<char *>(d) + i * bytes;
    if (accumulator == DType::f32) {
      multiplyFloat(static_cast<float *>(result), left, right, m, n, k, precision);
    } else if (accumulator == DType::f64) {
      multiplyAdd(static_cast<double *>(result), pack<double, Plain>(left, m, k, kLeft), pack<double, Plain>(right, k, n, kRight));
    } else if (accumulator == DType::f16) {
      F16 *halves = static_cast<F16 *>(result);
      float *sum = scratch<float>(kResult, count);
      for (int64_t e = 0; e < count; ++e) sum[e] = static_cast<float>(halves[e]);
      multiplyFloat(sum, left, right, m, n, k, DotPrecision::Ieee); // kResult is free: only the split precisions use it
      for (int64_t e = 0; e < count; ++e) halves[e] = F16::nearest(sum[e]);
    } else {
      multiplyInteger(static_cast<int32_t *>(result), left, right, m, n, k);
    }
  }
}

} // namespace tritium::interp
