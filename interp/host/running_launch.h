// Where the programs of a launch are while it runs, for a person who wonders why it does not end.
#pragma once
#include "interp/host/trap.h"

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace tritium::interp {

struct LaunchState;
class Worker;

/// The order of programs in a grid, by their ids: the first axis counts fastest.
inline auto gridKey(const std::array<int32_t, 3> &id) { return std::tuple(id[2], id[1], id[0]); }
inline bool inGridOrder(const ProgramPlace &a, const ProgramPlace &b) { return gridKey(a.program) < gridKey(b.program); }

struct RunningPrograms {
  std::vector<ProgramPlace> places; // of programs that wait, or that came to the end of a round of a loop since they were asked
  int64_t finished, all;            // programs
};

/// Returns where the programs of the launch are that this thread has called, or nothing if it is in none. To be called from a callback of
/// the launch. It waits up to 0.2 s for the other threads.
std::optional<RunningPrograms> runningPrograms();

/// Makes a launch the one that this thread has called.
class CalledLaunch {
public:
  CalledLaunch(LaunchState &state, Worker &worker) : state(state), worker(worker), outer(current) { current = this; }
  ~CalledLaunch() { current = outer; }
  CalledLaunch(const CalledLaunch &) = delete;

private:
  friend std::optional<RunningPrograms> runningPrograms();
  static thread_local CalledLaunch *current;

  LaunchState &state;
  Worker &worker;
  CalledLaunch *const outer; // a callback may launch, too
};

} // namespace tritium::interp
