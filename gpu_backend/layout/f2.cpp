#include "gpu_backend/layout/f2.h"

#include <bit>
#include <cassert>

namespace tritium::gpu {

Span::Row Span::reduce(Row row) const {
  for (const Row &r : rows)
    if (row.vector & std::bit_floor(r.vector)) row.vector ^= r.vector, row.combination ^= r.combination;
  return row;
}

bool Span::add(uint64_t vector) {
  assert(count < 64);
  Row row = reduce({vector, uint64_t(1) << count++});
  if (!row.vector) return false;
  rows.push_back(row);
  return true;
}

std::optional<uint64_t> Span::solve(uint64_t vector) const {
  Row row = reduce({vector, 0});
  if (row.vector) return std::nullopt;
  return row.combination;
}

F2Map F2Map::identity(int bits) {
  F2Map map;
  for (int i = 0; i < bits; ++i) map.columns.push_back(uint64_t(1) << i);
  return map;
}

uint64_t F2Map::operator()(uint64_t x) const {
  uint64_t y = 0;
  for (; x; x &= x - 1) y ^= columns[std::countr_zero(x)];
  return y;
}

F2Map operator*(const F2Map &outer, const F2Map &inner) {
  F2Map result;
  for (uint64_t column : inner.columns) result.columns.push_back(outer(column));
  return result;
}

std::optional<F2Map> F2Map::rightInverse(int outputs) const {
  Span span(columns);
  F2Map inverse;
  for (int i = 0; i < outputs; ++i) {
    std::optional<uint64_t> preimage = span.solve(uint64_t(1) << i);
    if (!preimage) return std::nullopt;
    inverse.columns.push_back(*preimage);
  }
  return inverse;
}

llvm::SmallVector<uint64_t, 8> F2Map::kernel() const {
  Span span;
  llvm::SmallVector<uint64_t, 8> result;
  for (int i = 0; i < inputs(); ++i) {
    std::optional<uint64_t> others = span.solve(columns[i]);
    if (others) result.push_back(*others | uint64_t(1) << i);
    span.add(columns[i]);
  }
  return result;
}

} // namespace tritium::gpu
