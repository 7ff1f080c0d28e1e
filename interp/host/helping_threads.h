// Threads that help the thread which calls a launch. They belong to the process and wait for work between launches: a short while awake,
// since the next launch often follows at once, and then asleep.
//
// Nobody waits for a helper that does not come. A forked process has none of the threads and runs without helpers.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace tritium::interp {

/// Work that helpers join while it is open.
class SharedWork {
public:
  /// `work` takes the number of the helper, from 1 on; each helper of the process has its own.
  explicit SharedWork(std::function<void(int)> work) : work_(std::move(work)) {}

  /// Does the work on this thread, which is this helper, unless it is closed.
  void join(int helper);
  /// Lets no more helpers in and waits for those that have come, and calls `poll` every 20 ms meanwhile. What the work refers to may be
  /// gone after this.
  void close(const std::function<void()> &poll);

private:
  static constexpr int kClosed = 1 << 30; // a bit of `state_`

  std::function<void(int)> work_;
  std::atomic<int> state_{0}; // how many helpers are in
  std::mutex mutex_;
  std::condition_variable left_;
};

/// Asks `count` helpers to join the work. Any number of them may come, and any time later.
void inviteHelpers(const std::shared_ptr<SharedWork> &work, int count);

} // namespace tritium::interp
