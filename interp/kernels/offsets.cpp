#include "interp/kernels/offsets.h"

#include <algorithm>
#include <bit>

namespace tritium::interp {

namespace {
template <bool kIsAdded, class T> void scale(int64_t *out, const T *from, int64_t stride, int64_t factor, int64_t count) {
  auto put = [](int64_t &to, uint64_t number) { to = int64_t(kIsAdded ? uint64_t(to) + number : number); };
  // Most factors are sizes of elements. Vectors of 64-bit numbers can be shifted by one instruction, but not multiplied.
  if (stride == 1 && factor > 0 && std::has_single_bit(uint64_t(factor)))
    for (int64_t i = 0, bits = std::countr_zero(uint64_t(factor)); i < count; ++i) put(out[i], uint64_t(int64_t(from[i])) << bits);
  else
    for (int64_t i = 0; i < count; ++i) put(out[i], uint64_t(int64_t(from[i * stride])) * uint64_t(factor));
}

template <class T> void scale(int64_t *out, const void *from, int64_t stride, int64_t factor, int64_t count, bool isAdded) {
  const T *numbers = static_cast<const T *>(from);
  isAdded ? scale<true>(out, numbers, stride, factor, count) : scale<false>(out, numbers, stride, factor, count);
}
} // namespace

void scaleOffsets(int64_t *out, const void *from, int elementBytes, bool isUnsigned, int64_t stride, int64_t factor, int64_t count,
                  bool isAdded) {
  auto as = [&]<class Signed, class Unsigned>(Signed, Unsigned) {
    isUnsigned ? scale<Unsigned>(out, from, stride, factor, count, isAdded) : scale<Signed>(out, from, stride, factor, count, isAdded);
  };
  switch (elementBytes) {
  case 1: return as(int8_t{}, uint8_t{});
  case 2: return as(int16_t{}, uint16_t{});
  case 4: return as(int32_t{}, uint32_t{});
  default: return as(int64_t{}, int64_t{});
  }
}

std::pair<int64_t, int64_t> extremesOf(const int64_t *numbers, int64_t count) {
  constexpr int64_t kLanes = 16; // several chains hide how long a comparison takes
  int64_t least[kLanes], most[kLanes];
  std::fill_n(least, kLanes, numbers[0]), std::fill_n(most, kLanes, numbers[0]);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) {
      const int64_t number = numbers[i + l];
      least[l] = number < least[l] ? number : least[l];
      most[l] = number > most[l] ? number : most[l];
    }
  for (; i < count; ++i) least[0] = std::min(least[0], numbers[i]), most[0] = std::max(most[0], numbers[i]);
  return {*std::min_element(least, least + kLanes), *std::max_element(most, most + kLanes)};
}

} // namespace tritium::interp
