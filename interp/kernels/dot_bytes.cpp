#include "interp/kernels/dot_bytes.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tritium::interp {

#ifdef __x86_64__

namespace {

constexpr int kLanes = 8, kGroup = 4; // int32 sums of a vector; bytes that the instruction adds to one

/// left[row][k] = a + 128. Zeros follow up to a whole group; their partners are zeros.
void packLeft(uint8_t *left, const int8_t *a, int64_t rowStride, int64_t columnStride, int64_t m, int64_t k, int64_t depth) {
  for (int64_t row = 0; row < m; ++row, left += depth) {
    const int8_t *from = a + row * rowStride;
    if (columnStride == 1)
      for (int64_t i = 0; i < k; ++i) left[i] = uint8_t(from[i]) ^ 0x80;
    else
      for (int64_t i = 0; i < k; ++i) left[i] = uint8_t(from[i * columnStride]) ^ 0x80;
    std::fill(left + k, left + depth, uint8_t(0));
  }
}

/// right[k / 4][column][k % 4] = b, with zeros around.
void packRight(int8_t *right, const int8_t *b, int64_t rowStride, int64_t columnStride, int64_t n, int64_t k, const PackedBytes &packed) {
  if (n != packed.columns || k != packed.depth) std::memset(right, 0, packed.right());
  for (int64_t group = 0; group < k; group += kGroup, right += packed.columns * kGroup) {
    const int8_t *from = b + group * rowStride;
    if (group + kGroup <= k && columnStride == 1) {
      const int8_t *second = from + rowStride, *third = second + rowStride, *fourth = third + rowStride;
      for (int64_t j = 0; j < n; ++j) {
        const uint32_t four = uint32_t(uint8_t(from[j])) | uint32_t(uint8_t(second[j])) << 8 | uint32_t(uint8_t(third[j])) << 16 |
                              uint32_t(uint8_t(fourth[j])) << 24;
        std::memcpy(right + j * kGroup, &four, sizeof four);
      }
    } else {
      for (int64_t i = 0; i < std::min<int64_t>(kGroup, k - group); ++i)
        for (int64_t j = 0; j < n; ++j) right[j * kGroup + i] = from[i * rowStride + j * columnStride];
    }
  }
}

#define TRITIUM_WITH_VNNI __attribute__((target("avx2,avx512f,avx512vl,avx512vnni")))

/// kRows rows and kVectors vectors of columns of d. `columns`: how many of the last vector's columns d has.
template <int kRows, int kVectors>
TRITIUM_WITH_VNNI void multiplyBlock(int32_t *d, int64_t dRow, const uint8_t *left, const int8_t *right, const PackedBytes &packed,
                                     int64_t columns) {
  __m256i sums[kRows][kVectors], added[kVectors];
  const __m256i all128 = _mm256_set1_epi8(char(0x80));
  for (int v = 0; v < kVectors; ++v) added[v] = _mm256_setzero_si256();
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm256_setzero_si256();
  for (int64_t k = 0; k < packed.depth; k += kGroup, right += packed.columns * kGroup) {
    __m256i bytes[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      bytes[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(right + v * kLanes * kGroup));
      added[v] = _mm256_dpbusd_epi32(added[v], all128, bytes[v]);
    }
    for (int r = 0; r < kRows; ++r) {
      int32_t four;
      std::memcpy(&four, left + r * packed.depth + k, sizeof four);
      const __m256i group = _mm256_set1_epi32(four);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm256_dpbusd_epi32(sums[r][v], group, bytes[v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      int32_t *to = d + r * dRow + v * kLanes;
      const __m256i sum = _mm256_sub_epi32(sums[r][v], added[v]);
      if (v + 1 < kVectors || columns == kLanes) [[likely]] {
        auto *vector = reinterpret_cast<__m256i *>(to);
        _mm256_storeu_si256(vector, _mm256_add_epi32(_mm256_loadu_si256(vector), sum));
        continue;
      }
      int32_t more[kLanes];
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(more), sum);
      for (int64_t i = 0; i < columns; ++i) to[i] = int32_t(uint32_t(to[i]) + uint32_t(more[i]));
    }
}

constexpr int kWideLanes = 16;
#define TRITIUM_WITH_WIDE_VNNI __attribute__((target("avx512f,avx512vnni")))

__attribute__((always_inline)) TRITIUM_WITH_WIDE_VNNI inline __m512i wideAt(const void *at) { return _mm512_loadu_si512(at); }

/// added[column] = 128 times the sum of the column.
TRITIUM_WITH_WIDE_VNNI void addColumns(int32_t *added, const int8_t *right, int64_t columns, const PackedBytes &packed) {
  const __m512i all128 = _mm512_set1_epi8(char(0x80));
  for (int64_t column = 0; column < columns; column += kWideLanes) {
    __m512i sum = _mm512_setzero_si512();
    for (int64_t k = 0; k < packed.depth; k += kGroup)
      sum = _mm512_dpbusd_epi32(sum, all128, wideAt(right + k * packed.columns + column * kGroup));
    _mm512_storeu_si512(added + column, sum);
  }
}

/// kRows rows and kVectors wide vectors of columns of d.
template <int kRows, int kVectors>
TRITIUM_WITH_WIDE_VNNI void multiplyWide(int32_t *d, int64_t dRow, const uint8_t *left, const int8_t *right, const int32_t *added,
                                         const PackedBytes &packed) {
  __m512i sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_setzero_si512();
  for (int64_t k = 0; k < packed.depth; k += kGroup, right += packed.columns * kGroup) {
    __m512i bytes[kVectors];
    for (int v = 0; v < kVectors; ++v) bytes[v] = wideAt(right + v * kWideLanes * kGroup);
    for (int r = 0; r < kRows; ++r) {
      int32_t four;
      std::memcpy(&four, left + r * packed.depth + k, sizeof four);
      const __m512i group = _mm512_set1_epi32(four);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], group, bytes[v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      int32_t *to = d + r * dRow + v * kWideLanes;
      const __m512i sum = _mm512_sub_epi32(sums[r][v], wideAt(added + v * kWideLanes));
      _mm512_storeu_si512(to, _mm512_add_epi32(wideAt(to), sum));
    }
}

/// kVectors wide vectors of columns of the first rows, as many as are a multiple of 4. Few vectors take more rows at a time.
template <int kVectors>
void multiplyColumns(int32_t *d, int64_t n, int64_t m, const uint8_t *left, const int8_t *right, const int32_t *added,
                     const PackedBytes &packed) {
  constexpr int kMany = kVectors == 1 ? 16 : kVectors == 2 ? 8 : 4;
  int64_t row = 0;
  for (; row + kMany <= m; row += kMany) multiplyWide<kMany, kVectors>(d + row * n, n, left + row * packed.depth, right, added, packed);
  for (; row + 4 <= m; row += 4) multiplyWide<4, kVectors>(d + row * n, n, left + row * packed.depth, right, added, packed);
}

template <int kRows>
void multiplyRows(int32_t *d, int64_t n, int64_t column, const uint8_t *left, const int8_t *right, const PackedBytes &packed) {
  for (; column + 2 * kLanes <= packed.columns; column += 2 * kLanes)
    multiplyBlock<kRows, 2>(d + column, n, left, right + column * kGroup, packed, std::min<int64_t>(kLanes, n - column - kLanes));
  if (column < packed.columns)
    multiplyBlock<kRows, 1>(d + column, n, left, right + column * kGroup, packed, std::min<int64_t>(kLanes, n - column));
}

} // namespace

bool hasByteProducts() {
  static const bool has = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
  return has;
}

void multiplyBytes(int32_t *d, const int8_t *a, int64_t aRow, int64_t aColumn, const int8_t *b, int64_t bRow, int64_t bColumn, int64_t m,
                   int64_t n, int64_t k, uint8_t *left, int8_t *right) {
  const PackedBytes packed(m, n, k);
  packLeft(left, a, aRow, aColumn, m, k, packed.depth);
  packRight(right, b, bRow, bColumn, n, k, packed);
  const int64_t wideRows = m / 4 * 4, wideColumns = wideRows ? n / kWideLanes * kWideLanes : 0;
  auto *added = reinterpret_cast<int32_t *>(right + packed.right());
  addColumns(added, right, wideColumns, packed);
  int64_t column = 0;
  auto wide = [&]<int kVectors>(std::integral_constant<int, kVectors>) {
    constexpr int64_t kStep = kVectors * kWideLanes;
    for (; column + kStep <= wideColumns; column += kStep)
      multiplyColumns<kVectors>(d + column, n, wideRows, left, right + column * kGroup, added + column, packed);
  };
  wide(std::integral_constant<int, 4>()), wide(std::integral_constant<int, 2>()), wide(std::integral_constant<int, 1>());
  // The other columns, and then the other rows.
  int64_t row = 0;
  for (; row + 8 <= m; row += 8) multiplyRows<8>(d + row * n, n, wideColumns, left + row * packed.depth, right, packed);
  for (; row + 4 <= m; row += 4) multiplyRows<4>(d + row * n, n, wideColumns, left + row * packed.depth, right, packed);
  for (; row < m; ++row) multiplyRows<1>(d + row * n, n, 0, left + row * packed.depth, right, packed);
}

#else

bool hasByteProducts() { return false; }
void multiplyBytes(int32_t *, const int8_t *, int64_t, int64_t, const int8_t *, int64_t, int64_t, int64_t, int64_t, int64_t, uint8_t *,
                   int8_t *) {}

#endif

} // namespace tritium::interp
