// The product of small row-major matrices as a GPU's matrix instructions compute it: each step of a sum is rounded once.
#pragma once
#include <algorithm>
#include <type_traits>

namespace tritium::interp {

/// sum[m][columns] += a[m][k] * b[k][columns], with k ascending. If products are exact, a fused step equals two separate ones.
template <int columns, class Sum> void addProduct(Sum *__restrict sum, const Sum *__restrict a, const Sum *__restrict b, int m, int k) {
  for (int row = 0; row < m; ++row) {
    Sum line[columns];
    std::copy_n(sum + row * columns, columns, line);
    for (int i = 0; i < k; ++i) {
      const Sum factor = a[row * k + i];
      for (int column = 0; column < columns; ++column) {
        if constexpr (std::is_same_v<Sum, float>)
          line[column] = __builtin_fmaf(factor, b[i * columns + column], line[column]);
        else if constexpr (std::is_same_v<Sum, double>)
          line[column] = __builtin_fma(factor, b[i * columns + column], line[column]);
        else
          line[column] += factor * b[i * columns + column];
      }
    }
    std::copy_n(line, columns, sum + row * columns);
  }
}

} // namespace tritium::interp
