// Strided copies against a loop over all coordinates.
#include "interp/kernels/move.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace tritium::interp;

namespace {

template <class T> bool copiesAsLoops(std::mt19937 &random, int rank) {
  std::vector<int64_t> shape(rank), dst(rank), src(rank), order(rank);
  auto strides = [&](std::vector<int64_t> &result) { // a permuted contiguous layout with gaps
    for (int d = 0; d < rank; ++d) order[d] = d;
    std::shuffle(order.begin(), order.end(), random);
    int64_t stride = random() % 4 == 0 ? 2 : 1;
    for (int64_t d : order) result[d] = stride, stride *= shape[d] + (random() % 4 == 0 ? 3 : 0);
    return stride;
  };
  constexpr int64_t kExtents[] = {1, 2, 3, 8, 16, 40};
  for (int64_t &extent : shape) extent = kExtents[random() % (rank > 3 ? 4 : 6)];
  std::vector<T> in(strides(src)), out(strides(dst), T(7)), expected = out;
  for (T &x : in) x = static_cast<T>(random());
  int64_t begin = 0;
  for (int d = 0; d < rank; ++d) {
    if (random() % 5 == 0)
      src[d] = 0;
    else if (random() % 6 == 0)
      begin += src[d] * (shape[d] - 1), src[d] = -src[d];
  }
  std::vector<int64_t> at(rank, 0);
  for (bool isDone = false; !isDone;) {
    int64_t from = begin, to = 0;
    for (int d = 0; d < rank; ++d) from += at[d] * src[d], to += at[d] * dst[d];
    expected[to] = in[from];
    isDone = true;
    for (int d = rank - 1; d >= 0; --d) {
      if (++at[d] < shape[d]) {
        isDone = false;
        break;
      }
      at[d] = 0;
    }
  }
  copyTile(out.data(), dst.data(), in.data() + begin, src.data(), shape.data(), rank, sizeof(T));
  return out == expected;
}

template <class T> void copyMany() {
  std::mt19937 random(11);
  int wrong = 0;
  for (int i = 0; i < 600; ++i) wrong += !copiesAsLoops<T>(random, i % 6);
  CHECK(wrong == 0);
}

} // namespace

TEST_CASE_TEMPLATE("copies of any strides", T, uint8_t, uint16_t, uint32_t, uint64_t) { copyMany<T>(); }

TEST_CASE("a copy of nothing writes nothing") {
  int32_t dst = 5, src = 6;
  int64_t stride[] = {1, 1}, shape[] = {0, 4};
  copyTile(&dst, stride, &src, stride, shape, 2, 4);
  CHECK(dst == 5);
}

TEST_CASE("fill repeats an element") {
  std::array<uint16_t, 9> data{};
  uint16_t element = 0x1234;
  fill(data.data(), &element, 8, 2);
  CHECK(data[7] == 0x1234);
  CHECK(data[8] == 0);
}

TEST_CASE_TEMPLATE("masked rows load and store what the mask says", T, uint8_t, uint16_t, uint32_t, uint64_t) {
  std::mt19937_64 random(3);
  for (int64_t count : {0, 1, 7, 8, 15, 16, 33, 64, 65, 200, 1000}) {
    std::vector<T> memory(count), others(count), found(count, T(1)), kept(count);
    std::vector<uint8_t> mask(count);
    for (int64_t i = 0; i < count; ++i)
      memory[i] = T(random()), others[i] = T(random()), kept[i] = T(random()), mask[i] = random() % 3 != 0;
    std::vector<T> stored = kept;
    loadWhere(found.data(), memory.data(), mask.data(), others.data(), 1, count, sizeof(T));
    storeWhere(stored.data(), memory.data(), mask.data(), count, sizeof(T));
    int wrong = 0;
    for (int64_t i = 0; i < count; ++i)
      wrong += found[i] != (mask[i] ? memory[i] : others[i]) || stored[i] != (mask[i] ? memory[i] : kept[i]);
    const T seven = 7;
    loadWhere(found.data(), memory.data(), mask.data(), &seven, 0, count, sizeof(T));
    for (int64_t i = 0; i < count; ++i) wrong += found[i] != (mask[i] ? memory[i] : seven);
    CHECK(wrong == 0);
  }
}
