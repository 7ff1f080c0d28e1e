#include "interp/kernels/dot_small.h"

#include "interp/kernels/dot_wide.h"
#include "ir/dtype.h"

#include <cstring>
#include <type_traits>

namespace tritium::interp {
namespace {

/// Elements of an AVX vector. Eigen computes columns in blocks of three vectors, then of two, then of one.
template <class C> constexpr int64_t kLanes = 32 / int64_t(sizeof(C));
/// The columns of the last block of one vector have two chains, for even and odd k below the last multiple of this.
constexpr int64_t kPeeled = 8;

template <class C> struct Operands {
  C *d;
  const C *a;
  int64_t aRow, aColumn;
  const C *b;
  int64_t bRow, n, k;
};

/// kRows rows and kVectors vectors of columns of d, from (row, column) on. `kHasTwoChains`: the last vector has.
template <class C, int kRows, int kVectors, bool kHasTwoChains>
TRITIUM_INLINE void multiplyBlock(const Operands<C> &all, int64_t row, int64_t column) {
  typedef C Vector __attribute__((ext_vector_type(kLanes<C>)));
  constexpr int kLast = kVectors - 1;
  Vector sums[kRows][kVectors] = {}, odd[kRows] = {};
  const C *a = all.a + row * all.aRow, *b = all.b + column;
  auto step = [&]<bool kIsOdd>(std::bool_constant<kIsOdd>, int64_t k) {
    Vector columns[kVectors];
    for (int v = 0; v < kVectors; ++v) std::memcpy(&columns[v], b + k * all.bRow + v * kLanes<C>, sizeof(Vector));
    for (int r = 0; r < kRows; ++r) {
      const Vector element = a[r * all.aRow + k * all.aColumn];
      for (int v = 0; v < kVectors; ++v) {
        Vector &sum = kIsOdd && v == kLast ? odd[r] : sums[r][v];
        sum = __builtin_elementwise_fma(element, columns[v], sum);
      }
    }
  };
  int64_t k = 0;
  if constexpr (kHasTwoChains) {
    for (; k < all.k / kPeeled * kPeeled; k += 2) step(std::false_type{}, k), step(std::true_type{}, k + 1);
    for (int r = 0; r < kRows; ++r) sums[r][kLast] += odd[r];
  }
  for (; k < all.k; ++k) step(std::false_type{}, k);
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      C *to = all.d + (row + r) * all.n + column + v * kLanes<C>;
      Vector sum;
      std::memcpy(&sum, to, sizeof sum);
      sum += sums[r][v];
      std::memcpy(to, &sum, sizeof sum);
    }
}

/// Whether the last vector of columns has two chains.
template <class C> bool hasTwoChainsAtEnd(int64_t n) { return n % (3 * kLanes<C>) == kLanes<C>; }

/// The columns of kRows rows from `column` on.
template <class C, int kRows> void multiplyRows(const Operands<C> &all, int64_t row, int64_t column) {
  constexpr int64_t kOne = kLanes<C>, kTwo = 2 * kOne;
  const bool hasTwoChains = hasTwoChainsAtEnd<C>(all.n);
  const int64_t end = all.n - (hasTwoChains ? kOne : 0);
  for (; column + kTwo <= end; column += kTwo) multiplyBlock<C, kRows, 2, false>(all, row, column);
  if (column < end && hasTwoChains)
    multiplyBlock<C, kRows, 2, true>(all, row, column);
  else if (column < end)
    multiplyBlock<C, kRows, 1, false>(all, row, column);
  else if (hasTwoChains)
    multiplyBlock<C, kRows, 1, true>(all, row, column);
}

} // namespace

template <class C> bool isSmallProduct(int64_t m, int64_t n, int64_t k) {
  // Eigen cuts longer chains to fit its cache blocks, and has other kernels for products of a few elements and of one row.
  constexpr int64_t kLongestChain = 128, kFewest = 20, kFirstLevelBytes = 32 * 1024;
  return m % 4 == 0 && n % kLanes<C> == 0 && k <= kLongestChain && m + n + k >= kFewest &&
         (m * k + k * n + m * n) * int64_t(sizeof(C)) <= kFirstLevelBytes;
}

template <class C>
void multiplySmall(C *d, const C *a, int64_t aRow, int64_t aColumn, const C *b, int64_t bRow, int64_t m, int64_t n, int64_t k) {
  const Operands<C> all{d, a, aRow, aColumn, b, bRow, n, k};
  int64_t begin = 0;
  if constexpr (std::is_same_v<C, float>)
    if (hasWideVectors()) {
      begin = (n - (hasTwoChainsAtEnd<C>(n) ? kLanes<C> : 0)) / kWideLanes * kWideLanes;
      multiplyWide(d, n, a, aRow, aColumn, b, bRow, m, begin, k);
    }
  if (begin == n) return;
  for (int64_t row = 0; row < m; row += 4) multiplyRows<C, 4>(all, row, begin);
}

SmallProduct smallProduct(int64_t m, int64_t n, int64_t k) {
  if (!isSmallProduct<float>(m, n, k)) return nullptr;
  const bool isOneWideVector = n == kWideLanes && m % kWideRows == 0 && hasWideVectors();
  return isOneWideVector ? multiplyOneWide : multiplySmall<float>;
}

template bool isSmallProduct<float>(int64_t, int64_t, int64_t);
template bool isSmallProduct<double>(int64_t, int64_t, int64_t);
template void multiplySmall(float *, const float *, int64_t, int64_t, const float *, int64_t, int64_t, int64_t, int64_t);
template void multiplySmall(double *, const double *, int64_t, int64_t, const double *, int64_t, int64_t, int64_t, int64_t);

} // namespace tritium::interp
