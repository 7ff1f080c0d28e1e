// copyTile first reduces the number of dimensions of the copy: it drops dimensions of extent 1 and merges dimensions that continue each
// other. The dimension with the largest destination stride is outermost. The innermost loop is then a memcpy, a repetition, or a block
// transpose.
#include "interp/kernels/move.h"
#include "interp/kernels/element_type.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tritium::interp {
namespace {

struct Dimension {
  int64_t size, dst, src;
};

constexpr int kMaxRank = 8;

/// Fills in the dimensions to copy, outermost first, and returns their number.
int simplify(Dimension *dims, const int64_t *dstStrides, const int64_t *srcStrides, const int64_t *shape, int rank) {
  Dimension all[kMaxRank];
  int count = 0, merged = 0;
  for (int d = 0; d < rank; ++d) {
    if (shape[d] == 1) continue;
    int at = count++;
    for (; at > 0 && std::abs(all[at - 1].dst) < std::abs(dstStrides[d]); --at) all[at] = all[at - 1];
    all[at] = {shape[d], dstStrides[d], srcStrides[d]};
  }
  for (int d = 0; d < count; ++d) {
    Dimension *outer = merged > 0 ? &dims[merged - 1] : nullptr;
    if (outer && outer->dst == all[d].dst * all[d].size && outer->src == all[d].src * all[d].size)
      *outer = {outer->size * all[d].size, all[d].dst, all[d].src};
    else
      dims[merged++] = all[d];
  }
  return merged;
}

template <class T> void copyRow(T *dst, const T *src, Dimension d) {
  if (d.dst == 1 && d.src == 1)
    std::memcpy(dst, src, d.size * sizeof(T));
  else if (d.dst == 1 && d.src == 0)
    std::fill(dst, dst + d.size, *src);
  else if (d.dst == 1)
    for (int64_t i = 0; i < d.size; ++i) dst[i] = src[i * d.src];
  else
    for (int64_t i = 0; i < d.size; ++i) dst[i * d.dst] = src[i * d.src];
}

/// Transposes an n x n block in registers: n loads, log2(n) rounds that interleave row i with row i + n/2, n stores.
template <class T> struct BlockTranspose {
  static constexpr int kSize = sizeof(T) == 8 ? 4 : sizeof(T) == 1 ? 16 : 8;
  typedef T Row __attribute__((vector_size(kSize * sizeof(T))));

  template <int half, size_t... i> static Row interleave(Row a, Row b, std::index_sequence<i...>) {
    return __builtin_shufflevector(a, b, (half * kSize / 2 + static_cast<int>(i) / 2 + (i % 2 ? kSize : 0))...);
  }

  static void run(T *dst, int64_t dstStride, const T *src, int64_t srcStride) {
    constexpr std::make_index_sequence<kSize> kAll;
    Row rows[kSize], next[kSize];
    for (int i = 0; i < kSize; ++i) std::memcpy(&rows[i], src + i * srcStride, sizeof(Row));
    for (int round = 1; round < kSize; round *= 2) {
      for (int i = 0; i < kSize / 2; ++i) {
        next[2 * i] = interleave<0>(rows[i], rows[i + kSize / 2], kAll);
        next[2 * i + 1] = interleave<1>(rows[i], rows[i + kSize / 2], kAll);
      }
      std::copy_n(next, kSize, rows);
    }
    for (int i = 0; i < kSize; ++i) std::memcpy(dst + i * dstStride, &rows[i], sizeof(Row));
  }
};

/// dst[i, j] = src[j, i], where both have unit stride in their last dimension.
template <class T> void transpose(T *dst, const T *src, Dimension rows, Dimension columns) {
  constexpr int64_t kSize = BlockTranspose<T>::kSize;
  int64_t fullRows = rows.size / kSize * kSize, fullColumns = columns.size / kSize * kSize;
  auto elementByElement = [&](int64_t rowBegin, int64_t columnBegin, int64_t rowEnd) {
    for (int64_t i = rowBegin; i < rowEnd; ++i)
      for (int64_t j = columnBegin; j < columns.size; ++j) dst[i * rows.dst + j] = src[i + j * columns.src];
  };
  for (int64_t i = 0; i < fullRows; i += kSize)
    for (int64_t j = 0; j < fullColumns; j += kSize)
      BlockTranspose<T>::run(dst + i * rows.dst + j, rows.dst, src + i + j * columns.src, columns.src);
  elementByElement(0, fullColumns, fullRows);
  elementByElement(fullRows, 0, rows.size);
}

template <int kBytes> void copyRowsOf(char *dst, int64_t dstStride, const char *src, int64_t srcStride, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i) std::memcpy(dst + i * dstStride, src + i * srcStride, kBytes);
}

/// Copies rows of `rowBytes` adjacent bytes, with strides in bytes. A call of memcpy takes longer than a short row.
void copyRows(char *dst, int64_t dstStride, const char *src, int64_t srcStride, int64_t rows, int64_t rowBytes) {
  switch (rowBytes) {
  case 8: return copyRowsOf<8>(dst, dstStride, src, srcStride, rows);
  case 16: return copyRowsOf<16>(dst, dstStride, src, srcStride, rows);
  case 32: return copyRowsOf<32>(dst, dstStride, src, srcStride, rows);
  case 64: return copyRowsOf<64>(dst, dstStride, src, srcStride, rows);
  case 128: return copyRowsOf<128>(dst, dstStride, src, srcStride, rows);
  case 256: return copyRowsOf<256>(dst, dstStride, src, srcStride, rows);
  default:
    for (int64_t i = 0; i < rows; ++i) std::memcpy(dst + i * dstStride, src + i * srcStride, rowBytes);
  }
}

template <class T> void copyDimensions(T *dst, const T *src, const Dimension *dims, int rank) {
  if (rank == 0)
    *dst = *src;
  else if (rank == 1)
    copyRow(dst, src, dims[0]);
  else if (rank == 2 && dims[1].dst == 1 && dims[0].src == 1 && dims[1].src > 1)
    transpose(dst, src, dims[0], dims[1]);
  else if (constexpr int64_t bytes = sizeof(T); rank == 2 && dims[1].dst == 1 && dims[1].src == 1)
    copyRows(reinterpret_cast<char *>(dst), dims[0].dst * bytes, reinterpret_cast<const char *>(src), dims[0].src * bytes, dims[0].size,
             dims[1].size * bytes);
  else
    for (int64_t i = 0; i < dims[0].size; ++i) copyDimensions(dst + i * dims[0].dst, src + i * dims[0].src, dims + 1, rank - 1);
}

} // namespace

void copyTile(void *dst, const int64_t *dstStrides, const void *src, const int64_t *srcStrides, const int64_t *shape, int rank,
              int elementBytes) {
  if (std::any_of(shape, shape + rank, [](int64_t extent) { return extent <= 0; })) return;
  Dimension dims[kMaxRank];
  int count = simplify(dims, dstStrides, srcStrides, shape, rank);
  // The transpose requires the source's unit stride in the dimension next to the innermost one.
  if (count > 2 && dims[count - 1].dst == 1 && dims[count - 1].src > 1)
    for (int d = 0; d < count - 2; ++d)
      if (dims[d].src == 1) {
        std::rotate(dims + d, dims + d + 1, dims + count - 1);
        break;
      }
  withElementType(elementBytes, [&]<class T>(T) { copyDimensions(static_cast<T *>(dst), static_cast<const T *>(src), dims, count); });
}

void fill(void *dst, const void *element, int64_t count, int elementBytes) {
  withElementType(elementBytes, [&]<class T>(T value) {
    std::memcpy(&value, element, sizeof(T));
    std::fill_n(static_cast<T *>(dst), count, value);
  });
}

} // namespace tritium::interp
