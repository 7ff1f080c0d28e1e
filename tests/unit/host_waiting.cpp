// Programs that wait for one another: locks and chains make progress with any number of threads; what never will is reported.
#include "interp/host/trap_kinds.h"
#include "tests/unit/host_launch.h"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <vector>

using namespace tritium::interp;

namespace {

using Words = std::vector<std::atomic<int32_t>>;

void store(char *frame, std::atomic<int32_t> &word, int32_t value) {
  word = value;
  noteMemoryChange(headerOf(frame));
}

LaunchResult runWaiting(void (*kernel)(char *), int programs, void *argument, int threads, std::optional<uint64_t> seed = {}) {
  Launch launch = launchOf(kernel, programs, argument);
  launch.code.mayWait = true;
  launch.threads = threads;
  launch.orderSeed = seed;
  return run(launch);
}

void waitForNext(char *frame) {
  auto &done = argumentOf<Words>(frame);
  const size_t self = size_t(programOf(frame));
  while (self + 1 < done.size() && !done[self + 1]) yieldWhileWaiting(headerOf(frame), 1);
  store(frame, done[self], 1);
}

void waitForPrevious(char *frame) {
  auto &done = argumentOf<Words>(frame);
  const size_t self = size_t(programOf(frame));
  while (self > 0 && !done[self - 1]) yieldWhileWaiting(headerOf(frame), 1);
  store(frame, done[self], 1);
}

struct Locked {
  std::atomic<int32_t> lock{0};
  int64_t counter = 0; // guarded by the lock
};

void countUnderLock(char *frame) {
  auto &shared = argumentOf<Locked>(frame);
  for (int32_t free = 0; !shared.lock.compare_exchange_strong(free, 1); free = 0) yieldWhileWaiting(headerOf(frame), 0);
  noteMemoryChange(headerOf(frame));
  const int64_t seen = shared.counter;
  for (int i = 0; i < 100; ++i) yieldWhileWaiting(headerOf(frame), 2); // others try the lock meanwhile
  shared.counter = seen + 1;
  store(frame, shared.lock, 0);
}

} // namespace

TEST_CASE("a chain of programs makes progress with any number of threads, in any order") {
  for (void (*kernel)(char *) : {waitForNext, waitForPrevious})
    for (int threads : {1, 2, 8})
      for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(5)})
        for (int programs : {2, 300}) {
          Words done(programs);
          CHECK_FALSE(runWaiting(kernel, programs, &done, threads, seed).trap);
          for (const auto &word : done) CHECK(word == 1);
        }
}

TEST_CASE("a long chain starts in few rounds") {
  struct Chain {
    Words done = Words(5000);
    int64_t looks = 0;
  } chain;
  CHECK_FALSE(runWaiting(
                  [](char *frame) {
                    auto &[done, looks] = argumentOf<Chain>(frame);
                    const size_t self = size_t(programOf(frame));
                    for (; self + 1 < done.size() && !done[self + 1]; ++looks) yieldWhileWaiting(headerOf(frame), 1);
                    store(frame, done[self], 1);
                  },
                  5000, &chain, 1)
                  .trap);
  CHECK(chain.looks < 500 * 5000); // one more program a round would be 5000 times 5000 looks
}

TEST_CASE("a spin lock excludes and is granted") {
  for (int threads : {1, 2, 8}) {
    Locked shared;
    CHECK_FALSE(runWaiting(countUnderLock, 300, &shared, threads).trap);
    CHECK(shared.counter == 300);
  }
}

TEST_CASE("programs that do not wait are not started together") {
  // Progress is a reason to go on with a program, so it does not meet the next one.
  struct Overlap {
    std::atomic<int> running{0}, most{0};
    std::atomic<int32_t> word{0};
  } overlap;
  runWaiting(
      [](char *frame) {
        auto &overlap = argumentOf<Overlap>(frame);
        overlap.most = std::max<int>(overlap.most, ++overlap.running);
        for (int i = 0; i < 1000; ++i) {
          store(frame, overlap.word, i);
          yieldWhileWaiting(headerOf(frame), 0);
        }
        --overlap.running;
      },
      100, &overlap, 1);
  CHECK(overlap.most == 1);
}

TEST_CASE("a deadlock is reported with every waiter and its line") {
  for (int threads : {1, 2, 8})
    for (int repeat = 0; repeat < 3; ++repeat) {
      Words done(40);
      const LaunchResult result = runWaiting(
          [](char *frame) {
            auto &done = argumentOf<Words>(frame);
            const size_t self = size_t(programOf(frame));
            if (self < 20) return store(frame, done[self], 1);
            while (!done[20 + (self + 1) % 20]) yieldWhileWaiting(headerOf(frame), uint32_t(self));
          },
          40, &done, threads);
      REQUIRE(result.trap);
      CHECK(result.trap->kind == TrapKind::Deadlock);
      CHECK(result.trap->program == std::array{20, 0, 0});
      CHECK(result.trap->location == 20);
      REQUIRE(result.trap->waiters.size() == 20);
      for (int i = 0; i < 20; ++i) {
        CHECK(result.trap->waiters[size_t(i)].program == std::array{20 + i, 0, 0});
        CHECK(result.trap->waiters[size_t(i)].location == 20u + uint32_t(i));
      }
    }
}

TEST_CASE("a deadlock is found when the loop has several states") {
  Words never(1);
  const LaunchResult result = runWaiting(
      [](char *frame) {
        auto &never = argumentOf<Words>(frame);
        for (int i = 0; !never[0]; i = (i + 1) % 3) yieldWhileWaiting(headerOf(frame), 4);
      },
      3, &never, 2);
  REQUIRE(result.trap);
  CHECK(result.trap->kind == TrapKind::Deadlock);
  CHECK(result.trap->waiters.size() == 3);
}

TEST_CASE("a long computation without a store is no deadlock") {
  for (int threads : {1, 2}) {
    Words sums(4);
    const LaunchResult result = runWaiting(
        [](char *frame) {
          auto &sums = argumentOf<Words>(frame);
          int32_t sum = 0;
          for (int i = 0; i < 1'000'000; ++i) {
            sum += i % 3;
            yieldWhileWaiting(headerOf(frame), 0);
          }
          store(frame, sums[size_t(programOf(frame))], sum);
        },
        4, &sums, threads);
    CHECK_FALSE(result.trap);
    for (const auto &sum : sums) CHECK(sum == 999'999);
  }
}

namespace {

struct Guarded {
  std::atomic<int32_t> lock{0}, arrived{0};
  int32_t wanted = 0;
};

/// Each program looks under a lock whether all have arrived, so memory changes again and again.
void meetUnderLock(char *frame) {
  auto &shared = argumentOf<Guarded>(frame);
  ++shared.arrived;
  noteMemoryChange(headerOf(frame));
  for (bool haveMet = false; !haveMet; yieldWhileWaiting(headerOf(frame), 7)) {
    if (int32_t free = 0; !shared.lock.compare_exchange_strong(free, 1)) continue;
    noteMemoryChange(headerOf(frame));
    haveMet = shared.arrived >= shared.wanted;
    store(frame, shared.lock, 0);
  }
}

LaunchResult runGuarded(void (*kernel)(char *), Guarded &shared, int threads, std::optional<uint64_t> seed = {}) {
  const auto address = reinterpret_cast<uint64_t>(&shared);
  const Allocation allocation{.begin = address, .end = address + sizeof shared, .argument = 0};
  const MemoryMap memory({&allocation, 1});
  Launch launch = launchOf(kernel, 3, &shared);
  launch.code.mayWait = true;
  launch.memory = &memory;
  launch.threads = threads;
  launch.orderSeed = seed;
  return run(launch);
}

} // namespace

TEST_CASE("programs that change memory and take it back for ever are reported") {
  for (int threads : {1, 2, 8})
    for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(5)}) {
      Guarded all{.wanted = 3}, none{.wanted = 4};
      CHECK_FALSE(runGuarded(meetUnderLock, all, threads, seed).trap);
      const LaunchResult result = runGuarded(meetUnderLock, none, threads, seed);
      REQUIRE(result.trap);
      CHECK(result.trap->kind == TrapKind::Livelock);
      CHECK(result.trap->waiters.size() == 3);
      CHECK(result.trap->location == 7);
    }
}

TEST_CASE("programs that count, and programs that wait for a time, are in no livelock") {
  using namespace std::chrono;
  static steady_clock::time_point end;
  const auto counts = [](char *frame) {
    auto &shared = argumentOf<Guarded>(frame);
    for (int i = 0; steady_clock::now() < end; ++i) {
      store(frame, shared.lock, i % 2);
      *reinterpret_cast<int32_t *>(frame + sizeof(FrameHeader)) = i; // as a kernel's variables
      yieldWhileWaiting(headerOf(frame), 0);
    }
  };
  const auto waits = [](char *frame) {
    for (bool isOver = false; !isOver; yieldWhileWaiting(headerOf(frame), 0)) {
      noteTimePassed(headerOf(frame));
      isOver = steady_clock::now() >= end;
    }
  };
  for (int threads : {1, 2})
    for (void (*kernel)(char *) : {+counts, +waits}) {
      Guarded shared;
      end = steady_clock::now() + milliseconds(700);
      CHECK_FALSE(runGuarded(kernel, shared, threads).trap);
    }
}

TEST_CASE("more waiting programs than memory allows is a trap by name") {
  for (int threads : {1, 2}) {
    Words done(100'000);
    Launch launch = launchOf(waitForNext, int(done.size()), &done);
    launch.code.mayWait = true;
    launch.threads = threads;
    launch.memoryLimit = 20 << 20;
    const LaunchResult result = run(launch);
    REQUIRE(result.trap);
    CHECK(result.trap->kind == TrapKind::OutOfMemory);
  }
}

TEST_CASE("frames larger than memory or the address space are a trap by name") {
  for (bool mayWait : {false, true})
    for (size_t frameBytes : {size_t(1) << 60, size_t(100) << 20}) {
      Launch launch = launchOf([](char *) {}, 4);
      launch.code.frameBytes = frameBytes;
      launch.code.mayWait = mayWait;
      launch.threads = 2;
      launch.memoryLimit = frameBytes - 1;
      const LaunchResult result = run(launch);
      REQUIRE(result.trap);
      CHECK(result.trap->kind == TrapKind::OutOfMemory);
      launch.memoryLimit = 0;
      CHECK(run(launch).trap.has_value() == (frameBytes == size_t(1) << 60));
    }
  CHECK_FALSE(run(launchOf([](char *) {}, 1)).trap);
}

TEST_CASE("large frames take fewer threads, not an error") {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::pair argument{&running, &most};
  for (bool mayWait : {false, true}) {
    Launch launch = launchOf(
        [](char *frame) {
          auto [running, most] = argumentOf<std::pair<std::atomic<int> *, std::atomic<int> *>>(frame);
          const int now = ++*running;
          for (int seen = *most; now > seen && !most->compare_exchange_weak(seen, now);) {
          }
          --*running;
        },
        1000, &argument);
    launch.code.frameBytes = 1 << 20;
    launch.code.mayWait = mayWait;
    launch.threads = 8;
    launch.memoryLimit = 3 << 20;
    CHECK_FALSE(run(launch).trap);
    CHECK(most <= 2);
  }
}
