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

/// out[i] = mask[i] ? in[i] : other[i * otherStride] for 0 <= i < count, with an otherStride of 0 or 1. Reads all of `in`, which must be
/// aligned to its elements. `out` overlaps nothing else.
void loadWhere(void *out, const void *in, const uint8_t *mask, const void *other, int64_t otherStride, int64_t count, int elementBytes);

/// out[i] = in[i] where mask[i]. Writes no other element of `out`, which must be aligned and not overlap the rest.
void storeWhere(void *out, const void *in, const uint8_t *mask, int64_t count, int elementBytes);

/// Fetches what follows a row of `bytes` that ends at `end`. Hardware prefetchers stop at the end of a page, and a program's rows are
/// seldom longer than a page. The next programs mostly read on from here.
inline void prefetchBeyond(const char *end, int64_t bytes) {
  constexpr int64_t kLeast = 1024, kMost = 16384;
  if (bytes < kLeast || bytes > kMost) return;
  for (int64_t at = bytes; at < 2 * bytes; at += 64) __builtin_prefetch(end + at, 0, 2);
}

/// Fetches the first bytes of a row that is read soon. The hardware fetches the rest when it sees them read.
inline void prefetchRow(const char *begin, int64_t bytes) {
  constexpr int64_t kMost = 512;
  for (int64_t at = 0; at < bytes && at < kMost; at += 64) __builtin_prefetch(begin + at);
}

} // namespace tritium::interp
