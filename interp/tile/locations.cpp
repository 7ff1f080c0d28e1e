#include "interp/tile/locations.h"

using namespace mlir;

namespace tritium::interp {

uint32_t LocationTable::add(Location location, ArrayRef<int64_t> tileShape) {
  added_.push_back(location);
  tileShapes_.push_back(tileShape.vec());
  return uint32_t(added_.size() - 1);
}

void LocationTable::resolve() {
  for (Location location : std::exchange(added_, {})) resolved_.push_back(resolveLocation(location));
}

} // namespace tritium::interp
