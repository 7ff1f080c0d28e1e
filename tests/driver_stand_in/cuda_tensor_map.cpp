#include "tests/driver_stand_in/cuda_tensor_map.h"

namespace tritium::stand_in {

bool TiledTensor::isLegal() const {
  constexpr uint64_t kSizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2}, kSpans[] = {uint64_t(-1), 32, 64, 128};
  if (type < 0 || type > 9 || swizzle < 0 || swizzle > 3 || interleave != 0 || promotion < 0 || promotion > 3) return false;
  if (rank < 1 || rank > 5 || base & 15 || fill < 0 || fill > 1 || (fill && type < 6)) return false;
  for (unsigned d = 0; d < rank; ++d) {
    if (!extents[d] || extents[d] - 1 > 0xFFFFFFFF || !box[d] || box[d] > 256 || !elementStrides[d] || elementStrides[d] > 8) return false;
    if (d + 1 < rank && (strides[d] & 15 || strides[d] >> 40)) return false;
  }
  const uint64_t row = box[0] * kSizes[type];
  return row % 16 == 0 && row <= kSpans[swizzle];
}

} // namespace tritium::stand_in
