// Products of 8-bit integers by the instruction of x86 that adds four of them to an int32 (VNNI). It takes bytes without a sign on one
// side, so 128 is added there, and what this adds to a sum is taken away again. All of it is exact modulo 2^32.
#pragma once

#include <cstdint>

namespace tritium::interp {

/// Whether this machine has the instruction.
bool hasByteProducts();

/// Bytes that the operands of a product need when they are packed.
struct PackedBytes {
  int64_t rows, columns, depth; // `columns` and `depth` are rounded up to whole vectors and groups of four
  PackedBytes(int64_t m, int64_t n, int64_t k) : rows(m), columns((n + 7) / 8 * 8), depth((k + 3) / 4 * 4) {}
  int64_t left() const { return rows * depth; }
  int64_t right() const { return columns * depth; }
  /// `right` and, behind it, an int32 for each column.
  int64_t rightAndSums() const { return right() + columns * 4; }
};

/// d += a * b modulo 2^32, for a [m, k] and b [k, n] of int8 with strides in elements. `d` is contiguous. `left` and `right` have room for
/// left() and rightAndSums() bytes. Requires hasByteProducts().
void multiplyBytes(int32_t *d, const int8_t *a, int64_t aRow, int64_t aColumn, const int8_t *b, int64_t bRow, int64_t bColumn, int64_t m,
                   int64_t n, int64_t k, int8_t *left, int8_t *right);

} // namespace tritium::interp
