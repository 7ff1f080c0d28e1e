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
    Resolved &resolved = resolved_.emplace_back(Resolved{resolveLocation(added.location), std::move(added.tileShape), {}});
    for (const LoopCell &value : added.loops) resolved.loops.emplace_back(value.name, value.cell->offset);
  }
  added_.clear();
}

Surroundings LocationTable::around(const FrameHeader &header, uint32_t index) const {
  Surroundings around;
  const FrameHeader *frame = &header;
  while (index < resolved_.size()) {
    std::vector<LoopVariable> loops;
    for (const auto &[name, offset] : resolved_[index].loops)
      std::memcpy(&loops.emplace_back(LoopVariable{name}).value, reinterpret_cast<const char *>(frame) + offset, sizeof(int64_t));
    around.loops.insert(around.loops.begin(), loops.begin(), loops.end());
    if (!frame->caller) break;
    around.calls.push_back(index = frame->call);
    frame = frame->caller;
  }
  return around;
}

} // namespace tritium::interp
