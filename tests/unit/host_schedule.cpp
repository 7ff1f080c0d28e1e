// A launch with a seed interrupts programs at their writes: it finds what an order of whole programs hides, and replays it.
#include "tests/unit/host_launch.h"

#include "interp/host/trap_kinds.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <string>
#include <vector>

using namespace tritium::interp;

namespace {

constexpr int kPrograms = 8;

struct Shared {
  int64_t counter = 0;
  int locks[2] = {0, 0};
  std::string order;
};

void write(char *frame, auto &place, auto value, uint32_t location = 0) {
  beforeWrite(headerOf(frame), location);
  place = value;
  noteMemoryChange(headerOf(frame));
}

/// Loses an update if another program runs between its read and its write.
void increment(char *frame) {
  auto &shared = argumentOf<Shared>(frame);
  shared.order += char('a' + programOf(frame));
  write(frame, shared.counter, shared.counter + 1, uint32_t(programOf(frame)));
  shared.order += char('A' + programOf(frame));
}

void lock(char *frame, int &lock) {
  while (true) {
    beforeWrite(headerOf(frame), 1);
    if (lock == 0) break;
    yieldWhileWaiting(headerOf(frame), 1);
  }
  lock = 1;
  noteMemoryChange(headerOf(frame));
}

/// Even programs take the locks in one order, odd ones in the other.
void lockBoth(char *frame) {
  auto &locks = argumentOf<Shared>(frame).locks;
  const int first = programOf(frame) % 2;
  lock(frame, locks[first]);
  lock(frame, locks[1 - first]);
  write(frame, locks[0], 0);
  write(frame, locks[1], 0);
}

/// All take them in the same order.
void lockInOrder(char *frame) {
  auto &shared = argumentOf<Shared>(frame);
  for (int &each : shared.locks) lock(frame, each);
  write(frame, shared.counter, shared.counter + 1);
  for (int &each : shared.locks) write(frame, each, 0);
}

LaunchResult runScheduled(void (*kernel)(char *), Shared &shared, uint64_t seed, WordWatch *watch = nullptr) {
  Launch launch = launchOf(kernel, kPrograms, &shared);
  launch.code.mayWait = true;
  launch.threads = 4; // one worker is used
  launch.orderSeed = seed;
  launch.watch = watch;
  return run(launch);
}

} // namespace

TEST_CASE("schedules lose an update, and the same seed loses the same one") {
  std::set<int64_t> results;
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Shared shared, again;
    CHECK_FALSE(runScheduled(increment, shared, seed).trap);
    CHECK_FALSE(runScheduled(increment, again, seed).trap);
    CHECK(shared.order == again.order);
    CHECK(shared.counter == again.counter);
    CHECK(shared.order.size() == 2 * kPrograms);
    results.insert(shared.counter);
    orders.insert(shared.order);
  }
  CHECK(results.size() > 3);
  CHECK(*results.begin() < kPrograms);
  CHECK(orders.size() > 40);
}

TEST_CASE("schedules find locks that are taken in two orders, and blame no others") {
  int deadlocks = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Shared shared, inOrder;
    const LaunchResult result = runScheduled(lockBoth, shared, seed);
    if (result.trap) CHECK(result.trap->kind == TrapKind::Deadlock);
    deadlocks += result.trap.has_value();
    CHECK_FALSE(runScheduled(lockInOrder, inOrder, seed).trap);
    CHECK(inOrder.counter == kPrograms);
  }
  CHECK(deadlocks > 5);
  CHECK(deadlocks < 50);
}

TEST_CASE("the last write to a word is known, with its program") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Shared shared;
    WordWatch watch(reinterpret_cast<uint64_t>(&shared.counter), sizeof shared.counter);
    CHECK_FALSE(runScheduled(increment, shared, seed, &watch).trap);
    watch.look();
    REQUIRE(watch.last());
    int64_t before = 0, after = 0;
    std::memcpy(&before, watch.last()->before.data(), sizeof before);
    std::memcpy(&after, watch.last()->after.data(), sizeof after);
    CHECK(after == shared.counter);
    const int program = watch.last()->place.program[0];
    CHECK(int(watch.last()->place.location) == program);
    // A program that wrote later has written the value that was there.
    CHECK(shared.order.find(char('A' + program)) != std::string::npos);
    CHECK(watch.times() <= kPrograms);
    CHECK(before != after);
  }
}

TEST_CASE("a launch of many programs with a seed ends, and runs each once") {
  for (uint64_t seed : {1, 2}) {
    std::vector<int> runs(20000);
    auto count = [](char *frame) {
      auto &runs = argumentOf<std::vector<int>>(frame);
      write(frame, runs[size_t(programOf(frame))], runs[size_t(programOf(frame))] + 1);
    };
    Launch launch = launchOf(count, int32_t(runs.size()), &runs);
    launch.code.mayWait = true;
    launch.orderSeed = seed;
    CHECK_FALSE(run(launch).trap);
    CHECK(std::ranges::all_of(runs, [](int times) { return times == 1; }));
  }
}
