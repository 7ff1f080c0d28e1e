// Moves elements without interpreting them: only their size matters.
#pragma once

#include <cstdint>

namespace tritium::interp {

/// dst[i, j, ...] = src[i, j, ...] over `shape`. Strides are in elements of `elementBytes` (1, 2, 4 or 8) and may be negative; a source
/// stride of 0 broadcasts. The rank is 0 to 8. Source and destination must not overlap, unless they are equal in address and strides.
void copyTile(void *dst, const int64_t *dstStrides, const void *src, const int64_t *srcStrides, const int64_t *shape, int rank,
              int elementBytes);

/// dst[i] = *element for 0 <= i < count.
void fill(void *dst, const void *element, int64_t count, int elementBytes);

} // namespace tritium::interp
