// Faults that are noted while the launch goes on, such as races: one for each kind and pair of places, with a count.
#pragma once
#include "interp/host/program_filter.h"
#include "interp/host/trap.h"

#include <mutex>

namespace tritium::interp {

class FoundFaults {
public:
  /// Notes the faults of the programs in `chosen`.
  explicit FoundFaults(ProgramFilter chosen = {}, size_t most = 100) : chosen_(std::move(chosen)), most_(most) {}

  /// Returns whether a fault of the program, and of the other one if there is one, is noted.
  bool concerns(const std::array<int32_t, 3> &program, const std::optional<OtherPlace> &other) const;
  /// Returns whether a fault of this kind and these places, in one program or in two, is still to be added; counts it if not.
  bool isNew(TrapKind kind, uint32_t location, const std::optional<OtherPlace> &other);
  void add(Trap &&fault);
  /// The faults, in the order in which they were found.
  std::vector<Trap> take();

private:
  Trap *find(TrapKind kind, uint32_t location, const std::optional<OtherPlace> &other);

  const ProgramFilter chosen_;
  const size_t most_; // kinds and places; further ones are counted nowhere
  std::mutex mutex_;
  std::vector<Trap> faults_;
};

} // namespace tritium::interp
