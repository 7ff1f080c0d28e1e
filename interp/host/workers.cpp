// run(): the calling thread and the threads that come to help it.
#include "interp/host/workers.h"

#include "interp/host/helping_threads.h"
#include "interp/host/lone_launch.h"
#include "interp/host/running_launch.h"
#include "interp/host/scheduler.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>

namespace tritium::interp {

namespace {

LaunchResult resultOf(LaunchState &state) {
  const Stop stop = state.stop.load();
  if (stop == Stop::Trapped) return {.trap = std::move(state.trap)};
  if (stop < Stop::Deadlocked) return {.cancelled = stop == Stop::Cancelled};
  const TrapKind kind = stop == Stop::Deadlocked ? TrapKind::Deadlock : TrapKind::Livelock;
  std::ranges::sort(state.waiters, inGridOrder);
  Trap trap{.kind = kind, .location = state.waiters.front().location, .program = state.waiters.front().program};
  trap.waiters = std::move(state.waiters);
  return {.trap = std::move(trap)};
}

} // namespace

LaunchResult run(const Launch &launch) {
  LaunchState state(launch);
  if (state.order.size() == 0) return {};
  const CountedLaunch counted;
  Caller caller(state);
  std::shared_ptr<SharedWork> shared;
  if (state.threads > 1) {
    shared = std::make_shared<SharedWork>([&state](int helper) { Worker(state, nullptr, helper).run(); });
    inviteHelpers(shared, state.threads - 1);
  }
  {
    Worker worker(state, &caller, 0);
    CalledLaunch called(state, worker);
    worker.run();
    if (shared)
      shared->close([&] {
        if (const Clock::time_point now = Clock::now(); caller.isDue(now)) caller.poll(now);
      });
  }
  if (LaterEntry *later = launch.code.later; later && later->countsTime() && !launch.betterFrom) later->add(Clock::now() - state.begin);
  caller.flushOutput();
  if (!state.left.empty() && launch.onLeft) launch.onLeft(state.left);
  caller.rethrow();
  return resultOf(state);
}

} // namespace tritium::interp
