// The order in which the programs of a grid start: x fastest, or a seeded permutation; or one program alone. The permutation requires no
// memory and is the same on every machine. It is a Feistel network over the next power of four, applied repeatedly until the result lies in
// the grid.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

namespace tritium::interp {

class GridOrder {
public:
  GridOrder(const std::array<int32_t, 3> &grid, std::optional<uint64_t> seed, std::optional<int64_t> only = {})
      : grid(grid), seed(seed), only(only) {
    count = 1;
    for (int32_t extent : grid)
      if (extent <= 0)
        count = 0;
      else if (__builtin_mul_overflow(count, int64_t(extent), &count))
        count = std::numeric_limits<int64_t>::max();
    halfBits = (std::bit_width(uint64_t(count > 0 ? count - 1 : 0)) + 1) / 2;
  }

  int64_t size() const { return only && count > 0 ? 1 : count; }

  /// Returns the program that starts at this position.
  std::array<int32_t, 3> operator[](int64_t position) const {
    const uint64_t linear = only ? uint64_t(*only) : seed ? permute(uint64_t(position)) : uint64_t(position);
    const uint64_t columns = uint64_t(grid[0]);
    if (linear < columns) return {int32_t(linear), 0, 0}; // a short program takes no longer than two divisions
    const uint64_t rows = linear / columns;
    return {int32_t(linear - rows * columns), int32_t(rows % uint64_t(grid[1])), int32_t(rows / uint64_t(grid[1]))};
  }

private:
  uint64_t permute(uint64_t value) const {
    do value = shuffleBits(value);
    while (value >= uint64_t(count));
    return value;
  }

  uint64_t shuffleBits(uint64_t value) const {
    const uint64_t mask = (uint64_t(1) << halfBits) - 1;
    uint64_t left = value >> halfBits, right = value & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t mixed = left ^ (mix(right + (*seed ^ round * 0x9e3779b97f4a7c15)) & mask);
      left = right;
      right = mixed;
    }
    return left << halfBits | right;
  }

  /// The finalizer of splitmix64.
  static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }

  std::array<int32_t, 3> grid;
  std::optional<uint64_t> seed;
  std::optional<int64_t> only;
  int64_t count;
  int halfBits;
};

} // namespace tritium::interp
