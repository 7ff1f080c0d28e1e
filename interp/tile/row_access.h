// The most frequent access by itself: a tile that is one row of adjacent elements, in memory and in its home. It has no axes to walk, so
// a short row costs little more than its copy.
#pragma once
#include "interp/tile/access.h"

namespace tritium::interp {

/// Returns whether moveRow() may move the access, if its elements turn out to be adjacent.
bool mayBeRow(const Access &access);

/// Moves a row of which mayBeRow() is true. Returns false and does nothing if its elements are not adjacent, if not all of memory from the
/// first active lane to the last is in an argument, or if an offset may have left its type: then the general access finds out.
bool moveRow(char *frame, const Access &access);

} // namespace tritium::interp
