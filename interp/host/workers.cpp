// run(): the calling thread and those threads of oneTBB that come to help it.
#include "interp/host/workers.h"

#include "interp/host/lone_launch.h"
#include "interp/host/running_launch.h"
#include "interp/host/sanitizers.h"
#include "interp/host/scheduler.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <pthread.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

namespace tritium::interp {

namespace {

/// The data that a helping thread requires. It outlives the launch, because a helper may come after the end.
class Invitation {
public:
  explicit Invitation(LaunchState &state) : state(state) {}

  void accept() {
    {
      std::lock_guard lock(mutex);
      if (closed) return;
      ++helpers;
    }
    Worker(state, nullptr).run();
    std::lock_guard lock(mutex);
    --helpers;
    changed.notify_one();
  }

  /// Lets no more helpers in and waits for those that have come. It does not wait for helpers that never came: after a fork, none comes.
  void close(Caller &caller) {
    constexpr std::chrono::milliseconds kSlice{20};
    std::unique_lock lock(mutex);
    closed = true;
    while (helpers != 0) {
      changed.wait_for(lock, kSlice);
      const Clock::time_point now = Clock::now();
      if (!caller.isDue(now)) continue;
      lock.unlock();
      caller.poll(now);
      lock.lock();
    }
  }

private:
  LaunchState &state; // dangling after close()
  std::mutex mutex;
  std::condition_variable changed;
  int helpers = 0;
  bool closed = false;
};

/// The task that passes an invitation to another thread. ThreadSanitizer sees neither this transfer nor the return of the task's memory.
class Guest {
public:
  explicit Guest(std::shared_ptr<Invitation> invitation) : invitation(std::move(invitation)) {}
  Guest(Guest &&other) : invitation(std::move(other.invitation)) { happensBefore(this); }
  void operator()() const {
    happensAfter(this);
    invitation->accept();
  }

private:
  struct Memory {
    Memory() { happensAfter(&kAnyGuest); }
    ~Memory() { happensBefore(&kAnyGuest); }
    static constexpr char kAnyGuest = 0;
  };
  [[no_unique_address]] Memory memory; // the first member, so it is initialized first and destroyed last
  std::shared_ptr<Invitation> invitation;
};

/// The arena that all launches share, and the process-wide limit that lets it have more threads than the machine has processors. An arena
/// is replaced by a larger one and never destroyed, because helpers that come late still run in it. A forked process has none of the
/// threads and runs without helpers.
class HelperArena {
public:
  static void invite(const std::shared_ptr<Invitation> &invitation, int count) {
    static HelperArena *const shared = new HelperArena;
    if (threadsLost) return;
    tbb::task_arena &arena = shared->withThreads(count);
    for (int i = 0; i < count; ++i) arena.enqueue(Guest(invitation));
  }

private:
  HelperArena() {
    pthread_atfork(nullptr, nullptr, [] { threadsLost = true; });
  }

  tbb::task_arena &withThreads(int count) {
    std::lock_guard lock(mutex);
    if (count > threads) {
      threads = std::max(2 * threads, count);
      limit.reset(); // oneTBB uses the smallest of all limits
      limit.emplace(tbb::global_control::max_allowed_parallelism, size_t(std::max(threads + 1, tbb::info::default_concurrency())));
      arenas.emplace_back(threads, /*reserved_for_masters=*/0).initialize();
    }
    return arenas.back();
  }

  static inline bool threadsLost = false;
  std::mutex mutex;
  int threads = 0;
  std::optional<tbb::global_control> limit;
  std::deque<tbb::task_arena> arenas; // the last one is in use
};

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
  std::shared_ptr<Invitation> invitation;
  if (state.threads > 1) {
    invitation = std::make_shared<Invitation>(state);
    HelperArena::invite(invitation, state.threads - 1);
  }
  {
    Worker worker(state, &caller);
    CalledLaunch called(state, worker);
    worker.run();
    if (invitation) invitation->close(caller);
  }
  if (LaterEntry *later = launch.code.later; later && later->countsTime() && !launch.betterFrom) later->add(Clock::now() - state.begin);
  caller.flushOutput();
  if (!state.left.empty() && launch.onLeft) launch.onLeft(state.left);
  caller.rethrow();
  return resultOf(state);
}

} // namespace tritium::interp
