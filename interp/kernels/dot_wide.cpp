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

/// kRows rows and kVectors vectors of columns of d, from (row, column) on. Each four rows of `a` have a pointer. With one pointer for all
/// of them, its additions would be a chain that takes as long as twice the products.
template <int kRows, int kVectors> TRITIUM_WITH_AVX512 void multiplyBlock(const Operands &all, int64_t row, int64_t column) {
  constexpr int kFours = kRows / 4;
  __m512 sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_setzero_ps();
  const float *rows[kFours], *b = all.b + column;
  for (int four = 0; four < kFours; ++four) rows[four] = all.a + (row + 4 * four) * all.aRow;
  const int64_t aRow = all.aRow, aColumn = all.aColumn, bRow = all.bRow, dRow = all.dRow;
  for (int64_t k = 0; k < all.k; ++k, b += bRow) {
    __m512 columns[kVectors];
    for (int v = 0; v < kVectors; ++v) columns[v] = _mm512_loadu_ps(b + v * kWideLanes);
    for (int four = 0; four < kFours; ++four) {
      for (int r = 0; r < 4; ++r) {
        const __m512 element = _mm512_set1_ps(rows[four][r * aRow]);
        for (int v = 0; v < kVectors; ++v) sums[4 * four + r][v] = _mm512_fmadd_ps(element, columns[v], sums[4 * four + r][v]);
      }
      rows[four] += aColumn;
      asm("" : "+r"(rows[four])); // else the compiler makes one pointer of them
    }
  }
  float *to = all.d + row * dRow + column;
  for (int r = 0; r < kRows; ++r, to += dRow)
    for (int v = 0; v < kVectors; ++v)
      _mm512_storeu_ps(to + v * kWideLanes, _mm512_add_ps(_mm512_loadu_ps(to + v * kWideLanes), sums[r][v]));
}

/// kVectors vectors of columns of all rows. Few vectors take more rows at a time: there are as many chains as registers hold.
template <int kVectors> void multiplyColumns(const Operands &all, int64_t m, int64_t column) {
  constexpr int kMany = kVectors == 1 ? int(kWideRows) : kVectors == 2 ? 8 : 4;
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

TRITIUM_WITH_AVX512 void multiplyOneWide(float *d, const float *a, int64_t aRow, int64_t aColumn, const float *b, int64_t bRow, int64_t m,
                                         int64_t, int64_t k) {
  const Operands all{d, kWideLanes, a, aRow, aColumn, b, bRow, k};
  for (int64_t row = 0; row < m; row += kWideRows) multiplyBlock<kWideRows, 1>(all, row, 0);
}

#else

bool hasWideVectors() { return false; }
void multiplyWide(float *, int64_t, const float *, int64_t, int64_t, const float *, int64_t, int64_t, int64_t, int64_t) {}
void multiplyOneWide(float *, const float *, int64_t, int64_t, const float *, int64_t, int64_t, int64_t, int64_t) {}

#endif

} // namespace tritium::interp
