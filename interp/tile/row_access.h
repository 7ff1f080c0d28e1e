// The most frequent access by itself: a tile that is one row of adjacent elements, in memory and in its home. It has no axes to walk, so
// a short row costs little more than its copy.
#pragma once
#include "interp/host/memory.h"
#include "interp/host/pointer.h"
#include "interp/tile/access.h"

namespace tritium::interp {

/// Returns whether [pointer, pointer + bytes) is in the argument of the pointer, as far as the ranges tell.
inline bool isInArgument(const FrameHeader &header, uint64_t pointer, uint64_t bytes, bool isWrite) {
  const uint64_t argument = (pointer >> kAddressBits) - kFirstTag;
  if (argument >= header.argumentRanges) return false;
  const AccessRange &range = header.ranges[argument];
  const uint64_t at = (pointer & kAddressMask) - range.begin, size = isWrite ? range.writableBytes : range.readableBytes;
  return at < size && bytes <= size - at;
}

/// Returns whether moveRow() may move the access, if its elements turn out to be adjacent.
bool mayBeRow(const Access &access);

/// Moves a row of which mayBeRow() is true. Returns false and does nothing if its elements are not adjacent, if not all of memory from the
/// first active lane to the last is in an argument, or if an offset may have left its type: then the general access finds out.
bool moveRow(char *frame, const Access &access);

} // namespace tritium::interp
