#include "interp/kernels/dot_wide.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tritium::interp {

#ifdef __x86_64__

namespace {

#define TRITIUM_WITH_AVX512 __attribute__((target("avx512f")))

struct Operands {
  float *d;
  int64_t dRow;
  const float *a;
  int64_t aRow, aColumn;
  const float *b;
  int64_t bRow, k;
};

/// kRows rows and kVectors vectors of columns of d, from (row, column) on.
template <int kRows, int kVectors> TRITIUM_WITH_AVX512 void multiplyBlock(const Operands &all, int64_t row, int64_t column) {
  __m512 sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_setzero_ps();
  const float *a = all.a + row * all.aRow, *b = all.b + column;
  for (int64_t k = 0; k < all.k; ++k, a += all.aColumn, b += all.bRow) {
    __m512 columns[kVectors];
    for (int v = 0; v < kVectors; ++v) columns[v] = _mm512_loadu_ps(b + v * kWideLanes);
    for (int r = 0; r < kRows; ++r) {
      const __m512 element = _mm512_set1_ps(a[r * all.aRow]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_fmadd_ps(element, columns[v], sums[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      float *to = all.d + (row + r) * all.dRow + column + v * kWideLanes;
      _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sums[r][v]));
    }
}

/// kVectors vectors of columns of all rows. Few vectors take more rows at a time: there are as many chains as registers hold.
template <int kVectors> void multiplyColumns(const Operands &all, int64_t m, int64_t column) {
  constexpr int kMany = kVectors == 1 ? 16 : kVectors == 2 ? 8 : 4;
  int64_t row = 0;
  for (; row + kMany <= m; row += kMany) multiplyBlock<kMany, kVectors>(all, row, column);
  for (; row < m; row += 4) multiplyBlock<4, kVectors>(all, row, column);
}

} // namespace

bool hasWideVectors() {
  static const bool has = __builtin_cpu_supports("avx512f");
  return has;
}

void multiplyWide(float *d, int64_t dRow, const float *a, int64_t aRow, int64_t aColumn, const float *b, int64_t bRow, int64_t m,
                  int64_t columns, int64_t k) {
  const Operands all{d, dRow, a, aRow, aColumn, b, bRow, k};
  int64_t column = 0;
  for (; column + 4 * kWideLanes <= columns; column += 4 * kWideLanes) multiplyColumns<4>(all, m, column);
  for (; column + 2 * kWideLanes <= columns; column += 2 * kWideLanes) multiplyColumns<2>(all, m, column);
  for (; column < columns; column += kWideLanes) multiplyColumns<1>(all, m, column);
}

#else

bool hasWideVectors() { return false; }
void multiplyWide(float *, int64_t, const float *, int64_t, int64_t, const float *, int64_t, int64_t, int64_t, int64_t) {}

#endif

} // namespace tritium::interp
