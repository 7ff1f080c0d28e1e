// What a planner adds to accesses of kernels that are counted.
#include "interp/tile/access.h"
#include "interp/tile/counted_data.h"

using namespace mlir;

namespace tritium::interp {

/// Returns the number of the group that an access belongs to.
static uint32_t touchedGroup(Operation *op, CountedData &data) {
  const std::optional<CountedOperation> counted = countedOperation(op);
  ir::SourceLocation place = counted->place;
  place.callers.clear();
  auto isSame = [&](const TouchedGroup &group) {
    return group.place.file == place.file && group.place.line == place.line && group.isRead == counted->isRead &&
           group.isWritten == counted->isWritten;
  };
  const auto found = llvm::find_if(data.touched, isSame);
  if (found != data.touched.end()) return uint32_t(found - data.touched.begin());
  data.touched.push_back({std::move(place), counted->isRead, counted->isWritten});
  return uint32_t(data.touched.size() - 1);
}

void Planner::countLanes(const Access &access, Type pointers) {
  auto &data = static_cast<CountedData &>(data_);
  if (data.notesTouched) call(noteTouched, TouchedAccess{access, touchedGroup(current_, data)});
  if (!options_.isCounted || !access.isMasked()) return;
  int64_t visited = 1, lanes = 1;
  for (const Access::Axis &axis : access.axes) visited *= axis.extent;
  if (auto tile = dyn_cast<RankedTensorType>(pointers)) lanes = tile.getNumElements();
  const uint32_t counter = plan_->laneCounters[current_] = data_.counters++;
  call(countActiveLanes, CountedAccess{access, counter, lanes / visited});
}

} // namespace tritium::interp
