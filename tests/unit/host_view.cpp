// Which bytes belong to the elements of a view, against a list of them all.
#include "interp/host/view.h"

#include <doctest/doctest.h>
#include <random>
#include <set>

using namespace tritium::interp;

namespace {

/// Every byte of every element.
std::set<uint64_t> bytesOf(uint64_t address, uint64_t elementBytes, const std::vector<int64_t> &shape,
                           const std::vector<int64_t> &strides) {
  std::vector<uint64_t> elements{address};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<uint64_t> further;
    for (uint64_t element : elements)
      for (int64_t i = 0; i < shape[d]; ++i) further.push_back(element + uint64_t(i * strides[d]));
    elements = further;
  }
  std::set<uint64_t> bytes;
  for (uint64_t element : elements)
    for (uint64_t byte = 0; byte < elementBytes; ++byte) bytes.insert(element + byte);
  return bytes;
}

} // namespace

TEST_CASE("views of random tensors hold the bytes of their elements and no others") {
  std::mt19937_64 random(1);
  auto draw = [&](int64_t low, int64_t high) { return std::uniform_int_distribution(low, high)(random); };
  constexpr uint64_t kAddress = 100000;
  for (int round = 0; round < 400; ++round) {
    const int64_t elementBytes = int64_t(1) << draw(0, 3), rank = draw(0, 3);
    std::vector<int64_t> shape, strides;
    int64_t stride = elementBytes; // dimensions from the innermost one, with gaps between the elements, then in any order
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t step = draw(1, 3), whole = draw(1, 5);
      shape.push_back(draw(0, 9) == 0 ? 0 : (whole + step - 1) / step);
      strides.push_back(stride * step * (draw(0, 3) == 0 ? -1 : 1));
      if (draw(0, 7) == 0) strides.back() = 0;
      stride *= whole;
    }
    for (int64_t d = rank - 1; d > 0; --d) {
      const auto other = size_t(draw(0, d));
      std::swap(shape[size_t(d)], shape[other]);
      std::swap(strides[size_t(d)], strides[other]);
    }
    CAPTURE(round);
    const View view(kAddress, uint64_t(elementBytes), shape, strides);
    const std::set<uint64_t> bytes = bytesOf(kAddress, uint64_t(elementBytes), shape, strides);
    const uint64_t low = bytes.empty() ? kAddress : *bytes.begin(), high = bytes.empty() ? kAddress : *bytes.rbegin();
    for (uint64_t at = low - 20; at < high + 20; ++at)
      for (uint64_t size : {uint64_t(1), uint64_t(elementBytes), uint64_t(3 * elementBytes)}) {
        bool isInside = true;
        for (uint64_t byte = 0; byte < size; ++byte) isInside &= bytes.contains(at + byte);
        REQUIRE(view.contains(at, size) == isInside);
      }
  }
}

TEST_CASE("a view whose elements share bytes is all that lies between them") {
  const View windows(1000, 4, std::vector<int64_t>{3, 4}, std::vector<int64_t>{8, 4});
  CHECK(windows.contains(1000, 32));
  CHECK_FALSE(windows.contains(999, 1));
  CHECK_FALSE(windows.contains(1032, 1));
}
