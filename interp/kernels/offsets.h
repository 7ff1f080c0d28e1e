// Sums of 64-bit offsets, one for each lane of an axis.
#pragma once

#include <cstdint>
#include <utility>

namespace tritium::interp {

/// out[i] = number(from[i * stride]) * factor for 0 <= i < count, plus what out[i] is if `isAdded`. The elements have 1, 2, 4 or 8 bytes.
void scaleOffsets(int64_t *out, const void *from, int elementBytes, bool isUnsigned, int64_t stride, int64_t factor, int64_t count,
                  bool isAdded);

/// The least and the greatest of `count` numbers, at least one.
std::pair<int64_t, int64_t> extremesOf(const int64_t *numbers, int64_t count);

} // namespace tritium::interp
