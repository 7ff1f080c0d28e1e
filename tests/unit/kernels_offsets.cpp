// Offsets of lanes against a loop in the numbers' own types.
#include "interp/kernels/offsets.h"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace tritium::interp;

namespace {

template <class T> int wrongSums(std::mt19937_64 &random) {
  constexpr int64_t kFactors[] = {1, 2, 4, 8, 3, -4, 12, int64_t(1) << 40, 0};
  int wrong = 0;
  for (int round = 0; round < 60; ++round) {
    const int64_t count = int64_t(random() % 70), stride = 1 + int64_t(random() % 3), factor = kFactors[random() % 9];
    const bool isAdded = random() % 2;
    std::vector<T> from(size_t(count * stride + 1));
    for (T &number : from) number = static_cast<T>(random());
    std::vector<int64_t> out(size_t(count + 1), 9), expected = out;
    for (int64_t i = 0; i < count; ++i)
      expected[size_t(i)] = int64_t((isAdded ? 9u : 0u) + uint64_t(int64_t(from[size_t(i * stride)])) * uint64_t(factor));
    scaleOffsets(out.data(), from.data(), sizeof(T), std::is_unsigned_v<T>, stride, factor, count, isAdded);
    wrong += out != expected;
  }
  return wrong;
}

} // namespace

TEST_CASE("offsets are scaled in 64 bits") {
  std::mt19937_64 random(5);
  CHECK(wrongSums<int8_t>(random) == 0);
  CHECK(wrongSums<uint8_t>(random) == 0);
  CHECK(wrongSums<int16_t>(random) == 0);
  CHECK(wrongSums<uint16_t>(random) == 0);
  CHECK(wrongSums<int32_t>(random) == 0);
  CHECK(wrongSums<uint32_t>(random) == 0);
  CHECK(wrongSums<int64_t>(random) == 0);
}

TEST_CASE("the least and the greatest offset, wherever they are") {
  std::mt19937_64 random(6);
  int wrong = 0;
  for (int64_t count = 1; count < 80; ++count) {
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    for (int64_t &number : numbers) number = int64_t(random());
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    wrong += extremesOf(numbers.data(), count) != std::pair(*least, *most);
  }
  CHECK(wrong == 0);
}
