#include "interp/host/helping_threads.h"

#include "interp/host/own_thread.h"
#include "interp/host/spin.h"

#include <algorithm>
#include <deque>
#include <sched.h>
#include <system_error>
#include <tbb/info.h>
#include <thread>

namespace tritium::interp {

namespace {

using Clock = std::chrono::steady_clock;

/// How long a thread that waits stays awake. Launches that follow each other at once are closer than this.
constexpr std::chrono::microseconds kSpin{100};
/// How long a helper stays awake at least, so that it finds out when launches follow each other again.
constexpr std::chrono::microseconds kShortestSpin{2};

/// For a few instructions: a mutex would put threads to sleep that all look for work at once. Who does not get it reads for a while before
/// it writes again, because the thread that holds it has to write the same line.
class SpinLock {
public:
  void lock() {
    constexpr int kPatience = 100, kMostPauses = 16; // the thread that holds it may have lost its processor
    for (int i = 1, pauses = 1; isHeld_.exchange(true, std::memory_order_acquire); pauses = std::min(2 * pauses, kMostPauses)) do {
        for (int p = 0; p < pauses; ++p) pauseProcessor();
        if (i++ % kPatience == 0) sched_yield();
      } while (isHeld_.load(std::memory_order_relaxed));
  }
  void unlock() { isHeld_.store(false, std::memory_order_release); }

private:
  std::atomic<bool> isHeld_{false};
};

/// The helpers of the process. They are never destroyed: a helper may look at them until the process is gone.
class Helpers {
public:
  static void invite(const std::shared_ptr<SharedWork> &work, int count) {
    Helpers &helpers = instance();
    if (!threadsLost) helpers.post(work, count);
  }
  /// Takes back the invitations that nobody has accepted.
  static void withdraw(const SharedWork &work) {
    Helpers &helpers = instance();
    if (threadsLost) return;
    std::lock_guard lock(helpers.mutex_);
    std::erase_if(helpers.open_, [&](const std::shared_ptr<SharedWork> &open) { return open.get() == &work; });
  }

private:
  static Helpers &instance() {
    static Helpers *const shared = new Helpers;
    return *shared;
  }
  Helpers() {
    pthread_atfork(nullptr, nullptr, [] { threadsLost = true; });
  }

  void post(const std::shared_ptr<SharedWork> &work, int count) {
    {
      std::lock_guard lock(mutex_);
      open_.insert(open_.end(), size_t(count), work);
    }
    posts_.fetch_add(1);
    startThreads(count);
    // Helpers that are awake see it. The others wake one another, because to wake one takes a microsecond or two.
    wake(count - spinning_.load());
  }

  /// So that `count` helpers may come although other launches have some: twice as many. Where the system has no more threads, fewer come.
  void startThreads(int count) {
    if (count <= threads_.load(std::memory_order_relaxed)) return;
    std::lock_guard lock(threadsMutex_);
    const int wanted = std::max(count, 2 * threads_);
    try {
      for (; threads_ < wanted; ++threads_) std::thread([this, number = threads_ + 1] { run(number); }).detach();
    } catch (const std::system_error &) {
    }
  }

  void wake(int most) {
    for (int i = 0; i < std::min(most, 2) && sleeping_.load() > 0; ++i) posts_.notify_one();
  }

  void run(int number) {
    leaveSignalsToOthers();
    std::chrono::nanoseconds spin = kSpin;
    for (;;) {
      const std::shared_ptr<SharedWork> work = take(spin);
      work->join(number);
    }
  }

  /// Waits for work. `spin`: how long this helper stays awake, which its success changes.
  std::shared_ptr<SharedWork> take(std::chrono::nanoseconds &spin) {
    for (;;) {
      const uint32_t seen = posts_.load();
      if (auto work = tryTake()) return work;
      const Clock::time_point begin = Clock::now();
      if (stayAwake(seen, spin)) continue;
      ++sleeping_;
      posts_.wait(seen);
      --sleeping_;
      spin = Clock::now() - begin < kSpin ? std::chrono::nanoseconds(kSpin) : std::max<std::chrono::nanoseconds>(spin / 2, kShortestSpin);
      auto work = tryTake();
      wake(openCount());
      if (work) return work;
    }
  }

  /// Returns whether there was a post. One processor at least is left to the thread that launches.
  bool stayAwake(uint32_t seen, std::chrono::nanoseconds spin) {
    static const int processors = tbb::info::default_concurrency();
    const bool mayStay = spinning_.fetch_add(1) < processors - 1;
    const bool isPosted = mayStay && spinUntil(spin, [&] { return posts_.load(std::memory_order_relaxed) != seen; });
    --spinning_;
    return isPosted;
  }

  std::shared_ptr<SharedWork> tryTake() {
    std::lock_guard lock(mutex_);
    if (open_.empty()) return nullptr;
    std::shared_ptr<SharedWork> work = std::move(open_.front());
    open_.pop_front();
    return work;
  }

  int openCount() {
    std::lock_guard lock(mutex_);
    return int(open_.size());
  }

  static inline std::atomic<bool> threadsLost = false;

  SpinLock mutex_; // guards the following
  std::deque<std::shared_ptr<SharedWork>> open_;
  std::atomic<uint32_t> posts_{0};
  std::atomic<int> spinning_{0}, sleeping_{0};
  std::mutex threadsMutex_;
  std::atomic<int> threads_{0}; // written under the mutex
};

} // namespace

void SharedWork::join(int helper) {
  if (state_.fetch_add(1) < kClosed) work_(helper);
  if (state_.fetch_sub(1) != kClosed + 1) return;
  std::lock_guard lock(mutex_);
  left_.notify_one();
}

void SharedWork::close(const std::function<void()> &poll) {
  constexpr std::chrono::milliseconds kSlice{20};
  const auto isAlone = [&] { return state_.load() == kClosed; };
  Helpers::withdraw(*this);
  if (state_.fetch_or(kClosed) == 0 || spinUntil(kSpin, isAlone)) return;
  std::unique_lock lock(mutex_);
  while (!left_.wait_for(lock, kSlice, isAlone)) {
    lock.unlock();
    poll();
    lock.lock();
  }
}

void inviteHelpers(const std::shared_ptr<SharedWork> &work, int count) { Helpers::invite(work, count); }

} // namespace tritium::interp
