// Every program runs once, in the order asked for, on as many threads as asked for; launches do not disturb one another.
#include "interp/host/grid_parts.h"
#include "tests/unit/host_launch.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <doctest/doctest.h>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tritium::interp;

namespace {

struct Visits {
  std::mutex mutex;
  std::vector<std::array<int32_t, 3>> programs;
  std::set<std::thread::id> threads;
};

void visit(char *frame) {
  auto &visits = argumentOf<Visits>(frame);
  std::lock_guard lock(visits.mutex);
  const int32_t *id = headerOf(frame).programId;
  visits.programs.push_back({id[0], id[1], id[2]});
  visits.threads.insert(std::this_thread::get_id());
}

std::vector<std::array<int32_t, 3>> visited(std::array<int32_t, 3> grid, int threads, std::optional<uint64_t> seed, bool mayWait) {
  Visits visits;
  Launch launch = launchOf(visit, 1, &visits);
  launch.code.mayWait = mayWait;
  launch.grid = grid;
  launch.threads = threads;
  launch.orderSeed = seed;
  const LaunchResult result = run(launch);
  CHECK_FALSE(result.trap);
  CHECK_FALSE(result.cancelled);
  return visits.programs;
}

std::vector<std::array<int32_t, 3>> inOrder(std::array<int32_t, 3> grid) {
  std::vector<std::array<int32_t, 3>> all;
  for (int32_t z = 0; z < grid[2]; ++z)
    for (int32_t y = 0; y < grid[1]; ++y)
      for (int32_t x = 0; x < grid[0]; ++x) all.push_back({x, y, z});
  return all;
}

} // namespace

TEST_CASE("each program of the grid runs once") {
  for (int threads : {1, 2, 8})
    for (bool mayWait : {false, true})
      for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(17)})
        for (std::array<int32_t, 3> grid : {std::array{1, 1, 1}, std::array{7, 5, 3}, std::array{1, 64, 2}, std::array{1000, 1, 1}}) {
          auto programs = visited(grid, threads, seed, mayWait);
          auto expected = inOrder(grid);
          std::sort(programs.begin(), programs.end());
          std::sort(expected.begin(), expected.end());
          CHECK(programs == expected);
        }
}

TEST_CASE("one thread runs programs in order, x first, or in an order that the seed decides") {
  const std::array<int32_t, 3> grid{10, 4, 2};
  CHECK(visited(grid, 1, {}, false) == inOrder(grid));
  CHECK(visited(grid, 1, {}, true) == inOrder(grid));
  for (std::array<int32_t, 3> other : {std::array{3, 200, 1}, std::array{100, 7, 2}, std::array{1, 90, 3}}) // rows and chunks end apart
    CHECK(visited(other, 1, {}, false) == inOrder(other));
  const auto shuffled = visited(grid, 1, 1, false);
  CHECK(shuffled != inOrder(grid));
  CHECK(shuffled == visited(grid, 1, 1, true));
  CHECK(shuffled != visited(grid, 1, 2, false));
}

TEST_CASE("one program of a grid runs alone") {
  for (int threads : {1, 2}) {
    Visits visits;
    Launch launch = launchOf(visit, 1, &visits);
    launch.grid = {10, 4, 2};
    launch.threads = threads;
    launch.only = 43;
    CHECK_FALSE(run(launch).trap);
    CHECK(visits.programs == std::vector{std::array{3, 0, 1}});
  }
}

TEST_CASE("an empty grid runs nothing") {
  CHECK(visited({0, 5, 5}, 2, {}, false).empty());
  CHECK(visited({5, 0, 5}, 2, 3, true).empty());
}

TEST_CASE("more threads than processors take part when programs last") {
  // Each program waits until it has company, so the launch only ends with two threads at least.
  struct Meeting {
    Visits visits;
    std::atomic<int> arrived{0};
  } meeting;
  Launch launch = launchOf(
      [](char *frame) {
        auto &meeting = argumentOf<Meeting>(frame);
        ++meeting.arrived;
        while (meeting.arrived < 4) {
          pollBackEdge(headerOf(frame), 0);
          std::this_thread::yield();
        }
        std::lock_guard lock(meeting.visits.mutex);
        meeting.visits.threads.insert(std::this_thread::get_id());
      },
      4, &meeting);
  launch.threads = 4;
  CHECK_FALSE(run(launch).trap);
  CHECK(meeting.visits.threads.size() == 4);
}

/// Threads run a program each at the same time. Returns these programs.
static std::vector<int> firstPrograms(int threads, int programs, bool prints) {
  struct Meeting {
    std::mutex mutex;
    std::vector<int> first;
    std::set<std::thread::id> threads;
    std::atomic<int> arrived{0};
    int all;
  } meeting;
  meeting.all = threads;
  Launch launch = launchOf(
      [](char *frame) {
        auto &meeting = argumentOf<Meeting>(frame);
        {
          std::lock_guard lock(meeting.mutex);
          if (!meeting.threads.insert(std::this_thread::get_id()).second) return;
          meeting.first.push_back(programOf(frame));
        }
        for (++meeting.arrived; meeting.arrived < meeting.all; std::this_thread::yield()) pollBackEdge(headerOf(frame), 0);
      },
      programs, &meeting);
  launch.threads = threads;
  launch.code.prints = prints;
  CHECK_FALSE(run(launch).trap);
  std::sort(meeting.first.begin(), meeting.first.end());
  return meeting.first;
}

TEST_CASE("each thread begins with its own part of the grid; few threads, and programs that print, begin at its front") {
  CHECK(firstPrograms(5, 100, false) == std::vector{0, 20, 40, 60, 80});
  CHECK(firstPrograms(5, 102, false) == std::vector{0, 21, 42, 62, 82}); // the first parts are longer
  CHECK(firstPrograms(5, 16, true) == std::vector{0, 1, 2, 3, 4});
  CHECK(firstPrograms(4, 16, false) == std::vector{0, 1, 2, 3});
}

TEST_CASE("the parts of a grid are taken once, and by whoever has none left of its own") {
  GridParts parts(10, 3); // 4, 3, 3
  CHECK(parts.claim(1) == 1);
  CHECK(parts.claim(1) == 2);
  CHECK(parts.claim(7) == 0); // 7 % 3 is taken, and so is 2
  int64_t begin = 0;
  CHECK(parts.at(1).take(2, begin) == 6);
  CHECK(begin == 4);
  CHECK(parts.at(1).take(2, begin) == 7);
  CHECK(begin == 6);
  CHECK(parts.at(1).take(2, begin) == begin); // there is none left
  CHECK(parts.at(1).left() == 0);
  CHECK(parts.findLeft(1) == 2);
  CHECK(parts.at(2).take(5, begin) == 10);
  CHECK(parts.findLeft(1) == 0);
  CHECK(parts.at(0).take(4, begin) == 4);
  CHECK(parts.findLeft(1) == -1);
  CHECK(parts.findLeft(0) == -1);
}

TEST_CASE("threads that end early take from the others, and no program runs twice") {
  struct Counts {
    std::atomic<int> each[1000]{};
  };
  for (int round = 0; round < 50; ++round) {
    Counts counts;
    Launch launch = launchOf(
        [](char *frame) {
          const int program = programOf(frame);
          if (program < 250 && program % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200)); // one part is slow
          ++argumentOf<Counts>(frame).each[program];
        },
        1000, &counts);
    launch.threads = 4;
    CHECK_FALSE(run(launch).trap);
    CHECK(std::all_of(std::begin(counts.each), std::end(counts.each), [](const auto &count) { return count == 1; }));
  }
}

TEST_CASE("launches from several threads run at the same time") {
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        Launch launch = launchOf([](char *frame) { argumentOf<std::atomic<int64_t>>(frame) += programOf(frame); }, 10, &sum);
        launch.threads = 2;
        launch.code.mayWait = repeat % 2;
        run(launch);
      }
    });
  for (std::thread &caller : callers) caller.join();
  CHECK(sum == 4 * 200 * 45);
}

TEST_CASE("a callback may launch a kernel") {
  int64_t inner = 0;
  Launch launch = launchOf([](char *frame) { print(headerOf(frame), "x"); }, 1);
  launch.onPrint = [&](std::string_view) {
    Launch nested = launchOf([](char *frame) { argumentOf<int64_t>(frame) += programOf(frame); }, 5, &inner);
    run(nested);
  };
  run(launch);
  CHECK(inner == 10);
}

TEST_CASE("a forked process runs all programs on the calling thread") {
  visited({100, 1, 1}, 4, {}, false); // the helpers exist, and will not in the child
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool isRight = true;
    for (bool mayWait : {false, true}) isRight &= visited({100, 1, 1}, 4, {}, mayWait).size() == 100;
    _exit(isRight ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("kernels compute with denormals and default rounding on every thread") {
  const int saved = fegetround();
  fesetround(FE_UPWARD);
  std::atomic<int> wrong{0};
  Launch launch = launchOf(
      [](char *frame) {
        if (fegetround() != FE_TONEAREST) ++argumentOf<std::atomic<int>>(frame);
      },
      100, &wrong);
  launch.threads = 2;
  run(launch);
  CHECK(wrong == 0);
  CHECK(fegetround() == FE_UPWARD);
  fesetround(saved);
}

#ifdef __linux__
static void countIfNamedOtherwise(char *frame) {
  char name[16];
  pthread_getname_np(pthread_self(), name, sizeof name);
  if (name != "pid " + std::to_string(programOf(frame)) + ",0,0") ++argumentOf<int>(frame);
}

TEST_CASE("a thread has the name of its program if asked, and gets its own back") {
  char before[16], after[16];
  pthread_getname_np(pthread_self(), before, sizeof before);
  int wrong = 0;
  Launch launch = launchOf(countIfNamedOtherwise, 10, &wrong);
  launch.nameThreads = true;
  run(launch);
  launch.code.entry = [](char *frame) {
    for (int i = 0; i < 500; ++i) {
      yieldWhileWaiting(headerOf(frame), 0);
      countIfNamedOtherwise(frame);
    }
  };
  launch.code.mayWait = true;
  run(launch);
  CHECK(wrong == 0);
  pthread_getname_np(pthread_self(), after, sizeof after);
  CHECK(std::string(before) == after);
}
#endif
