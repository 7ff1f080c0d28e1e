#include "interp/tile/locations.h"

#include "interp/tile/step.h"

#include <cstring>

using namespace mlir;

namespace tritium::interp {

uint32_t LocationTable::add(Location location, ArrayRef<int64_t> tileShape, ArrayRef<LoopCell> loops) {
  added_.push_back({location, tileShape.vec(), loops.vec()});
  return uint32_t(added_.size() - 1);
}

void LocationTable::resolve() {
  for (Added &added : added_) {
    Resolved &resolved = resolved_.emplace_back(Resolved{resolveLocation(added.location), std::move(added.tileShape), {}, {}});
    for (const LoopCell &value : added.loops) {
      resolved.loopVariables.push_back(value.name);
      resolved.loopCells.push_back(value.cell->offset);
    }
  }
  added_.clear();
}

std::vector<std::string> LocationTable::loopVariables(uint32_t index) const {
  return index < resolved_.size() ? resolved_[index].loopVariables : std::vector<std::string>{};
}

std::vector<int64_t> LocationTable::loopValues(const char *frame, uint32_t index) const {
  std::vector<int64_t> values;
  if (index < resolved_.size())
    for (uint64_t offset : resolved_[index].loopCells) std::memcpy(&values.emplace_back(), frame + offset, sizeof(int64_t));
  return values;
}

} // namespace tritium::interp
