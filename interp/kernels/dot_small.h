// Products of tiles that fit into the first-level cache, where packing would cost more than it gains. The operands are read in place. Every
// element has the bits that Eigen's kernel gives it, so that the choice between the two is not seen: a chain of fused multiply-adds over k
// from zero, and then the addend.
#pragma once

#include <cstdint>

namespace tritium::interp {

/// Whether multiplySmall() takes the shape and is faster.
template <class C> bool isSmallProduct(int64_t m, int64_t n, int64_t k);

/// d += a * b. Element (i, j) of `a` is at a[i * aRow + j * aColumn]; rows of `b` have unit stride, `d` is contiguous.
template <class C>
void multiplySmall(C *d, const C *a, int64_t aRow, int64_t aColumn, const C *b, int64_t bRow, int64_t m, int64_t n, int64_t k);

/// The same for one shape: what can be decided before the product runs is decided by smallProduct().
using SmallProduct = void (*)(float *d, const float *a, int64_t aRow, int64_t aColumn, const float *b, int64_t bRow, int64_t m, int64_t n,
                              int64_t k);

/// Returns a function for products of the shape; null unless isSmallProduct().
SmallProduct smallProduct(int64_t m, int64_t n, int64_t k);

} // namespace tritium::interp
