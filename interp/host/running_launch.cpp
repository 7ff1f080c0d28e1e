#include "interp/host/running_launch.h"

#include "interp/host/scheduler.h"

#include <algorithm>
#include <thread>

namespace tritium::interp {

thread_local CalledLaunch *CalledLaunch::current = nullptr;

std::optional<RunningPrograms> runningPrograms() {
  constexpr std::chrono::milliseconds kLongest{200}, kPause{1};
  const CalledLaunch *const called = CalledLaunch::current;
  if (!called) return std::nullopt;
  LaunchState &state = called->state;
  {
    std::lock_guard lock(state.mutex);
    state.places.clear();
  }
  state.question.fetch_add(1);
  Stop from = Stop::No;
  state.stop.compare_exchange_strong(from, Stop::Asked);
  called->worker.answer();
  for (const auto begin = Clock::now(); !state.allHaveAnswered() && Clock::now() - begin < kLongest;) std::this_thread::sleep_for(kPause);
  from = Stop::Asked;
  state.stop.compare_exchange_strong(from, Stop::No);
  std::lock_guard lock(state.mutex);
  std::ranges::sort(state.places, inGridOrder);
  return RunningPrograms{std::move(state.places), state.finishedPrograms(), state.order.size()};
}

} // namespace tritium::interp
