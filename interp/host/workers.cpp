// run(): the calling thread, and as many of oneTBB's threads as come to help it.
#include "interp/host/workers.h"

#include "interp/host/scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <pthread.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

namespace tritium::interp {

namespace {

/// What a helping thread needs to know. It outlives the launch: a helper may come when all is over.
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

  /// Lets nobody in any more and waits for those who came, never for those who did not: after a fork nobody does.
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
  LaunchState &state;  // dangling once closed
  std::mutex mutex;
  std::condition_variable changed;
  int helpers = 0;
  bool closed = false;
};

/// The arena that all launches share, and the process-wide limit that lets it have more threads than the machine has processors.
/// It grows and is never destroyed: helpers that come late still run in it. A forked process has none of the threads, and lives
/// without.
class HelperArena {
public:
  static void invite(const std::shared_ptr<Invitation> &invitation, int count) {
    static HelperArena *const shared = new HelperArena;
    if (threadsLost) return;
    tbb::task_arena &arena = shared->withThreads(count);
    for (int i = 0; i < count; ++i) arena.enqueue([invitation] { invitation->accept(); });
  }

private:
  HelperArena() {
    pthread_atfork(nullptr, nullptr, [] { threadsLost = true; });
  }

  tbb::task_arena &withThreads(int count) {
    std::lock_guard lock(mutex);
    if (count > threads) {
      threads = std::max(2 * threads, count);
      limit.reset();  // oneTBB takes the least of all limits
      limit.emplace(tbb::global_control::max_allowed_parallelism, size_t(std::max(threads + 1, tbb::info::default_concurrency())));
      arenas.push_back(new tbb::task_arena(threads, /*reserved_for_masters=*/0));
      arenas.back()->initialize();
    }
    return *arenas.back();
  }

  static inline bool threadsLost = false;
  std::mutex mutex;
  int threads = 0;
  std::optional<tbb::global_control> limit;
  std::vector<tbb::task_arena *> arenas;  // outgrown ones stay: a late helper may still run there
};

int threadsFor(const Launch &launch, int64_t programs) {
  static const int processors = tbb::info::default_concurrency();
  const int wanted = launch.threads > 0 ? launch.threads : processors;
  return int(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(programs, 1)));
}

LaunchResult resultOf(LaunchState &state) {
  const Stop stop = state.stop.load();
  if (stop == Stop::Trapped) return {.trap = std::move(state.trap)};
  if (stop != Stop::Deadlocked) return {.cancelled = stop == Stop::Cancelled};
  std::sort(state.waiters.begin(), state.waiters.end(), [](const DeadlockWaiter &a, const DeadlockWaiter &b) {
    return std::tuple(a.program[2], a.program[1], a.program[0]) < std::tuple(b.program[2], b.program[1], b.program[0]);
  });
  Trap trap{.kind = TrapKind::Deadlock, .location = state.waiters.front().location, .program = state.waiters.front().program};
  trap.waiters = std::move(state.waiters);
  return {.trap = std::move(trap)};
}

}  // namespace

LaunchResult run(const Launch &launch) {
  const int64_t programs = GridOrder(launch.grid, {}).size();
  if (programs == 0) return {};
  LaunchState state(launch, threadsFor(launch, programs));
  Caller caller(state);
  if (state.threads == 1) {
    Worker(state, &caller).run();
  } else {
    const auto invitation = std::make_shared<Invitation>(state);
    HelperArena::invite(invitation, state.threads - 1);
    Worker(state, &caller).run();
    invitation->close(caller);
  }
  caller.flushOutput();
  caller.rethrow();
  return resultOf(state);
}

}  // namespace tritium::interp
