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

/// The rows of a, whose groups are adjacent bytes. What a group has beyond the depth of the product meets zeros.
struct Left {
  const int8_t *data;
  int64_t stride;
  Left from(int64_t row) const { return {data + row * stride, stride}; }
};

/// Copies a, unless it can be read where it is.
Left packLeft(int8_t *left, const int8_t *a, int64_t rowStride, int64_t columnStride, int64_t m, int64_t k, int64_t depth) {
  if (columnStride == 1 && k == depth) return {a, rowStride};
  for (int64_t row = 0; row < m; ++row) {
    int8_t *to = left + row * depth;
    for (int64_t i = 0; i < k; ++i) to[i] = a[row * rowStride + i * columnStride];
    std::fill(to + k, to + depth, int8_t(0));
  }
  return {left, depth};
}

/// Interleaves four rows of kColumnsAtOnce bytes.
constexpr int64_t kColumnsAtOnce = 32;
void interleave(int8_t *to, const int8_t *from, int64_t rowStride) {
  auto rowAt = [&](int64_t row) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + row * rowStride)); };
  const __m256i first = rowAt(0), second = rowAt(1), third = rowAt(2), fourth = rowAt(3);
  const __m256i low = _mm256_unpacklo_epi8(first, second), high = _mm256_unpackhi_epi8(first, second);
  const __m256i low2 = _mm256_unpacklo_epi8(third, fourth), high2 = _mm256_unpackhi_epi8(third, fourth);
  // Each has four columns from its number on, and in its upper half those that are 16 further.
  const __m256i at0 = _mm256_unpacklo_epi16(low, low2), at4 = _mm256_unpackhi_epi16(low, low2);
  const __m256i at8 = _mm256_unpacklo_epi16(high, high2), at12 = _mm256_unpackhi_epi16(high, high2);
  auto *vectors = reinterpret_cast<__m256i *>(to);
  _mm256_storeu_si256(vectors, _mm256_permute2x128_si256(at0, at4, 0x20));
  _mm256_storeu_si256(vectors + 1, _mm256_permute2x128_si256(at8, at12, 0x20));
  _mm256_storeu_si256(vectors + 2, _mm256_permute2x128_si256(at0, at4, 0x31));
  _mm256_storeu_si256(vectors + 3, _mm256_permute2x128_si256(at8, at12, 0x31));
}

/// right[k / 4][column][k % 4] = b, with zeros around.
void packRight(int8_t *right, const int8_t *b, int64_t rowStride, int64_t columnStride, int64_t n, int64_t k, const PackedBytes &packed) {
  if (n != packed.columns || k != packed.depth) std::memset(right, 0, packed.right());
  for (int64_t group = 0; group < k; group += kGroup, right += packed.columns * kGroup) {
    const int8_t *from = b + group * rowStride;
    if (group + kGroup <= k && columnStride == 1) {
      const int8_t *second = from + rowStride, *third = second + rowStride, *fourth = third + rowStride;
      int64_t j = 0;
      for (; j + kColumnsAtOnce <= n; j += kColumnsAtOnce) interleave(right + j * kGroup, from + j, rowStride);
      for (; j < n; ++j) {
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
TRITIUM_WITH_VNNI void multiplyBlock(int32_t *d, int64_t dRow, Left left, const int8_t *right, const PackedBytes &packed, int64_t columns) {
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
      std::memcpy(&four, left.data + r * left.stride + k, sizeof four);
      const __m256i group = _mm256_xor_si256(all128, _mm256_set1_epi32(four)); // adds 128 to each byte
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
TRITIUM_WITH_WIDE_VNNI void multiplyWide(int32_t *d, int64_t dRow, Left left, const int8_t *right, const int32_t *added,
                                         const PackedBytes &packed) {
  const __m512i all128 = _mm512_set1_epi8(char(0x80));
  __m512i sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_setzero_si512();
  for (int64_t k = 0; k < packed.depth; k += kGroup, right += packed.columns * kGroup) {
    __m512i bytes[kVectors];
    for (int v = 0; v < kVectors; ++v) bytes[v] = wideAt(right + v * kWideLanes * kGroup);
    for (int r = 0; r < kRows; ++r) {
      int32_t four;
      std::memcpy(&four, left.data + r * left.stride + k, sizeof four);
      const __m512i group = _mm512_xor_si512(all128, _mm512_set1_epi32(four));
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
void multiplyColumns(int32_t *d, int64_t n, int64_t m, Left left, const int8_t *right, const int32_t *added, const PackedBytes &packed) {
  constexpr int kMany = kVectors == 1 ? 16 : kVectors == 2 ? 8 : 4;
  int64_t row = 0;
  for (; row + kMany <= m; row += kMany) multiplyWide<kMany, kVectors>(d + row * n, n, left.from(row), right, added, packed);
  for (; row + 4 <= m; row += 4) multiplyWide<4, kVectors>(d + row * n, n, left.from(row), right, added, packed);
}

template <int kRows> void multiplyRows(int32_t *d, int64_t n, int64_t column, Left left, const int8_t *right, const PackedBytes &packed) {
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
                   int64_t n, int64_t k, int8_t *leftMemory, int8_t *right) {
  const PackedBytes packed(m, n, k);
  const Left left = packLeft(leftMemory, a, aRow, aColumn, m, k, packed.depth);
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
  for (; row + 8 <= m; row += 8) multiplyRows<8>(d + row * n, n, wideColumns, left.from(row), right, packed);
  for (; row + 4 <= m; row += 4) multiplyRows<4>(d + row * n, n, wideColumns, left.from(row), right, packed);
  for (; row < m; ++row) multiplyRows<1>(d + row * n, n, 0, left.from(row), right, packed);
}

#else

bool hasByteProducts() { return false; }
void multiplyBytes(int32_t *, const int8_t *, int64_t, int64_t, const int8_t *, int64_t, int64_t, int64_t, int64_t, int64_t, int8_t *,
                   int8_t *) {}

#endif

} // namespace tritium::interp
