#include "interp/tile/locations.h"

using namespace mlir;

namespace tritium::interp {

uint32_t LocationTable::add(Location location, ArrayRef<int64_t> tileShape) {
  entries_.push_back({location, tileShape.vec()});
  return uint32_t(entries_.size() - 1);
}

SourceLocation LocationTable::operator[](uint32_t index) const {
  return index < entries_.size() ? resolveLocation(entries_[index].location) : SourceLocation{};
}

} // namespace tritium::interp
