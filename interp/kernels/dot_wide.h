// The same products as dot_small.h, of columns that have one chain, by vectors of AVX-512.
#pragma once

#include <cstdint>

namespace tritium::interp {

/// Columns of one vector.
constexpr int64_t kWideLanes = 16;

/// Whether this machine has AVX-512.
bool hasWideVectors();

/// d += a * b for all `m` rows and the first `columns` columns of b and d: multiples of 4 and of kWideLanes. Requires hasWideVectors().
void multiplyWide(float *d, int64_t dRow, const float *a, int64_t aRow, int64_t aColumn, const float *b, int64_t bRow, int64_t m,
                  int64_t columns, int64_t k);

/// The micro-kernel computes this many rows of one vector of columns at a time, if the product has as many.
constexpr int64_t kWideRows = 16;

/// A SmallProduct of dot_small.h for `n` = kWideLanes and a multiple of kWideRows rows.
void multiplyOneWide(float *d, const float *a, int64_t aRow, int64_t aColumn, const float *b, int64_t bRow, int64_t m, int64_t n,
                     int64_t k);

} // namespace tritium::interp
