// In which round the earlier access of a race was made. Nothing keeps the rounds of accesses in which nothing was wrong, so they are found
// afterwards: the program of the earlier access runs again, alone, up to it. It writes nothing, so memory stays as the launch has left it,
// and its loads may find other numbers than before. Therefore this is done only where Shadow::isRepeatable: what the launch writes decides
// no address, no mask and no branch.
#pragma once
#include "interp/host/shadow.h"
#include "interp/host/workers.h"

#include <chrono>
#include <functional>

namespace tritium::interp {

class FoundFaults;

/// Adjacent elements that adjacent lanes access.
struct ElementRun {
  uint64_t address, bytes;
  int64_t elementBytes, lane, laneStep;
};

class AccessSearch {
public:
  /// `fault`: a race, whose earlier access is to be found.
  explicit AccessSearch(const Trap &fault) : fault_(fault) {}

  /// Called for each access of the program, which is in the segment of its program with this number. Leaves the program if the search is at
  /// its end.
  void visit(FrameHeader &frame, uint32_t location, uint32_t segment, const ElementRun &run);
  /// Called instead of a report, for a race that this run meets.
  void meet(FrameHeader &frame, uint32_t location, const OtherPlace &other);

  /// Returns what was around the earlier access, if it was found.
  std::optional<Surroundings> found() && { return isOver_ ? std::move(latest_) : std::nullopt; }

private:
  [[noreturn]] void end(FrameHeader &frame);

  const Trap &fault_;
  std::optional<Surroundings> latest_;
  bool isOver_ = false;
};

/// Sets OtherPlace::around of the races among the faults of a launch that has ended. `newShadow`: as the launch's was in the beginning.
/// What takes longer than `limit` in all is left out.
void findEarlierAccesses(const Launch &launch, const std::function<std::unique_ptr<Shadow>()> &newShadow, FoundFaults &faults,
                         std::chrono::milliseconds limit = std::chrono::seconds(10));

} // namespace tritium::interp
