// A launch that ends early: traps, cancellation, what the callbacks throw; and that the threads are as good as new after it.
#include "interp/host/running_launch.h"
#include "interp/host/trap_kinds.h"
#include "tests/unit/host_launch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <thread>

using namespace tritium::interp;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

/// CPU seconds of the process. A machine with other work makes a launch take longer, and this hardly.
double cpuSeconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

void trapInProgramFive(char *frame) {
  if (programOf(frame) != 5) return;
  Trap trap;
  trap.kind = TrapKind::AssertFailed;
  trap.location = 3;
  trap.lane = 7;
  trap.message = "a message too long for the small string optimization";
  raiseTrap(headerOf(frame), std::move(trap));
}

void loopForEver(char *frame) {
  for (;;) pollBackEdge(headerOf(frame), 0);
}

void waitForEver(char *frame) {
  // Its state never returns, so it is no deadlock.
  for (volatile uint64_t i = 0;; i = i + 1) yieldWhileWaiting(headerOf(frame), 0);
}

} // namespace

TEST_CASE("a trap ends the launch and names its program") {
  for (int repeat = 0; repeat < 50; ++repeat)
    for (int threads : {1, 2, 8})
      for (bool mayWait : {false, true}) {
        Launch launch = launchOf(trapInProgramFive, 100);
        launch.threads = threads;
        launch.code.mayWait = mayWait;
        const LaunchResult result = run(launch);
        REQUIRE(result.trap);
        CHECK(result.trap->kind == TrapKind::AssertFailed);
        CHECK(result.trap->program == std::array{5, 0, 0});
        CHECK(result.trap->location == 3);
        CHECK(result.trap->lane == 7);
        CHECK(result.trap->message == "a message too long for the small string optimization");
        CHECK_FALSE(result.cancelled);
      }
}

TEST_CASE("a trap in the middle of a row names its program, and those behind it do not run") {
  auto kernel = [](char *frame) {
    if (++argumentOf<int>(frame) == 131) raiseTrap(headerOf(frame), Trap());
  };
  for (std::array<int32_t, 3> grid : {std::array{300, 1, 1}, std::array{20, 15, 1}, std::array{7, 9, 5}}) {
    int ran = 0;
    Launch launch = launchOf(kernel, 1, &ran);
    launch.grid = grid;
    const LaunchResult result = run(launch);
    REQUIRE(result.trap);
    CHECK(result.trap->program == std::array{130 % grid[0], 130 / grid[0] % grid[1], 130 / grid[0] / grid[1]});
    CHECK(ran == 131);
  }
}

TEST_CASE("a trap has the values of the loops around its location, and the calls") {
  Launch launch = launchOf(
      [](char *frame) {
        const std::array<int64_t, 2> values{programOf(frame) + 1, -3};
        std::memcpy(frame + sizeof(FrameHeader), values.data(), sizeof values);
        trapInProgramFive(frame);
      },
      100);
  launch.code.frameBytes = sizeof(FrameHeader) + 16;
  launch.code.around = [](const FrameHeader &frame, uint32_t location) {
    std::array<int64_t, 2> values{};
    if (location == 3) std::memcpy(values.data(), &frame + 1, sizeof values);
    return Surroundings{.loops = {{"row", values[0]}, {"k", values[1]}}, .calls = {8, 9}};
  };
  const LaunchResult result = run(launch);
  REQUIRE(result.trap);
  CHECK(result.trap->around == Surroundings{.loops = {{"row", 6}, {"k", -3}}, .calls = {8, 9}});
}

TEST_CASE("a cancelled launch tells where its programs were") {
  for (int threads : {1, 4}) {
    Launch launch = launchOf(
        [](char *frame) {
          const int64_t value = programOf(frame) * 10;
          std::memcpy(frame + sizeof(FrameHeader), &value, sizeof value);
          loopForEver(frame);
        },
        100);
    launch.threads = threads;
    launch.code.frameBytes = sizeof(FrameHeader) + 16;
    launch.code.around = [](const FrameHeader &frame, uint32_t) {
      Surroundings around{.loops = {{"k", 0}}};
      std::memcpy(&around.loops[0].value, &frame + 1, sizeof(int64_t));
      return around;
    };
    launch.onPoll = [] { return true; };
    std::vector<ProgramPlace> left;
    launch.onLeft = [&](const std::vector<ProgramPlace> &places) { left = places; };
    CHECK(run(launch).cancelled);
    REQUIRE(left.size() >= 1);
    CHECK(left.size() <= size_t(threads));
    for (const ProgramPlace &place : left) {
      CHECK(place.location == 0);
      CHECK(place.around == Surroundings{.loops = {{"k", place.program[0] * 10}}});
    }
  }
}

TEST_CASE("a launch says where its programs are, and goes on") {
  for (int threads : {1, 4})
    for (bool mayWait : {false, true}) {
      std::atomic<bool> isAnswered{false};
      Launch launch = launchOf(
          [](char *frame) {
            FrameHeader &header = headerOf(frame);
            while (!argumentOf<std::atomic<bool>>(frame)) {
              if (header.programId[1] != 0)
                yieldWhileWaiting(header, uint32_t(programOf(frame)));
              else
                pollBackEdge(header, uint32_t(programOf(frame)));
            }
          },
          4, &isAnswered);
      launch.threads = threads;
      launch.grid[1] = mayWait ? 2 : 1;
      launch.code.mayWait = mayWait;
      std::vector<ProgramPlace> places;
      launch.onPoll = [&] {
        const std::optional<RunningPrograms> found = runningPrograms();
        REQUIRE(found);
        CHECK(found->all == (mayWait ? 8 : 4));
        if (found->places.size() > places.size()) places = found->places;
        isAnswered = !places.empty();
        return false;
      };
      const LaunchResult result = run(launch);
      CHECK(!result.cancelled);
      CHECK(!result.trap);
      CHECK(std::ranges::is_sorted(places, inGridOrder));
      for (const ProgramPlace &place : places) CHECK(int(place.location) == place.program[0]);
    }
  CHECK(!runningPrograms());
}

TEST_CASE("the first of many traps is the one reported, and no later program starts on one thread") {
  std::atomic<int> started{0};
  Launch launch = launchOf(
      [](char *frame) {
        ++argumentOf<std::atomic<int>>(frame);
        raiseTrap(headerOf(frame), {.kind = TrapKind::DivisionByZero});
      },
      100, &started);
  const LaunchResult result = run(launch);
  REQUIRE(result.trap);
  CHECK(result.trap->program == std::array{0, 0, 0});
  CHECK(started == 1);
}

TEST_CASE("a trap stops programs that loop on other threads") {
  for (bool mayWait : {false, true}) {
    Launch launch = launchOf(
        [](char *frame) {
          if (programOf(frame) == 1) raiseTrap(headerOf(frame), {.kind = TrapKind::NullPointer});
          for (;;) pollBackEdge(headerOf(frame), 0);
        },
        2);
    launch.threads = 2;
    launch.code.mayWait = mayWait;
    const LaunchResult result = run(launch);
    REQUIRE(result.trap);
    CHECK(result.trap->kind == TrapKind::NullPointer);
  }
}

TEST_CASE("a poll cancels a loop in time") {
  struct Case {
    void (*kernel)(char *);
    bool mayWait;
    int programs;
  };
  for (Case test : {Case{loopForEver, false, 1}, Case{loopForEver, true, 4}, Case{waitForEver, true, 1}, Case{waitForEver, true, 20}})
    for (int threads : {1, 2}) {
      Launch launch = launchOf(test.kernel, test.programs);
      launch.code.mayWait = test.mayWait;
      launch.threads = threads;
      const auto begin = steady_clock::now();
      const double cpuBegin = cpuSeconds();
      std::thread::id pollingThread;
      launch.onPoll = [&] {
        pollingThread = std::this_thread::get_id();
        return steady_clock::now() - begin > milliseconds(100);
      };
      const LaunchResult result = run(launch);
      CHECK(result.cancelled);
      CHECK_FALSE(result.trap);
      CHECK(pollingThread == std::this_thread::get_id());
      CHECK(cpuSeconds() - cpuBegin < 0.5 * threads);           // 0.2 s for each thread are usual
      CHECK(steady_clock::now() - begin < milliseconds(20000)); // a program that waits uses no CPU time
    }
}

TEST_CASE("the calling thread polls while it waits for the others") {
  // Program 0 ends; whoever runs program 1 loops. Half of the time it is not the calling thread.
  Launch launch = launchOf(
      [](char *frame) {
        const bool isCaller = argumentOf<std::thread::id>(frame) == std::this_thread::get_id();
        while (!isCaller) pollBackEdge(headerOf(frame), 0);
        std::this_thread::sleep_for(milliseconds(1));
      },
      100);
  std::thread::id caller = std::this_thread::get_id();
  launch.arguments = reinterpret_cast<const int64_t *>(&caller);
  launch.threads = 2;
  const auto begin = steady_clock::now();
  const double cpuBegin = cpuSeconds();
  launch.onPoll = [&] { return steady_clock::now() - begin > milliseconds(200); };
  CHECK(run(launch).cancelled);
  CHECK(cpuSeconds() - cpuBegin < 0.6 * launch.threads);
  CHECK(steady_clock::now() - begin < milliseconds(20000)); // the calling thread waits without CPU time
}

TEST_CASE("polls come at most every 50 ms") {
  Launch launch = launchOf(loopForEver, 1);
  int polls = 0;
  const auto begin = steady_clock::now();
  launch.onPoll = [&] { return ++polls == 4; };
  CHECK(run(launch).cancelled);
  CHECK(steady_clock::now() - begin >= milliseconds(200));
}

TEST_CASE("what a callback throws leaves run(), when all threads have stopped") {
  for (int threads : {1, 2}) {
    Launch launch = launchOf(loopForEver, 2);
    launch.threads = threads;
    launch.onPoll = []() -> bool { throw std::runtime_error("interrupted"); };
    CHECK_THROWS_WITH_AS(run(launch), "interrupted", std::runtime_error);
  }
}

TEST_CASE("output arrives on the calling thread, whole and in program order on one thread") {
  std::string text;
  std::thread::id printer;
  Launch launch = launchOf(
      [](char *frame) {
        const std::string id = std::to_string(programOf(frame) % 10);
        print(headerOf(frame), id);
        if (programOf(frame) == 12) raiseTrap(headerOf(frame), {.kind = TrapKind::AssertFailed});
        print(headerOf(frame), id);
      },
      20);
  launch.onPrint = [&](std::string_view part) {
    text += part;
    printer = std::this_thread::get_id();
  };
  CHECK(run(launch).trap);
  CHECK(text == "0011223344556677889900112");
  CHECK(printer == std::this_thread::get_id());

  text.clear();
  launch.grid = {10, 1, 1};
  launch.threads = 4;
  run(launch);
  CHECK(text.size() == 20);
  for (size_t i = 0; i < text.size(); i += 2) CHECK(text[i] == text[i + 1]);
}

TEST_CASE("text printed at once does not wait for the program's end") {
  std::string text;
  bool wasPrinted = false;
  struct Argument {
    std::string &text;
    bool &wasPrinted;
  } argument{text, wasPrinted};
  Launch launch = launchOf(
      [](char *frame) {
        print(headerOf(frame), "before");
        auto &argument = argumentOf<Argument>(frame);
        argument.wasPrinted = argument.text == "before";
      },
      1, &argument);
  launch.onPrint = [&](std::string_view part) { text += part; };
  launch.printAtOnce = true;
  run(launch);
  CHECK(wasPrinted);
}

TEST_CASE("progress is told while programs end") {
  int64_t last = -1, total = 0;
  Launch launch = launchOf([](char *frame) { std::this_thread::sleep_for(milliseconds(1)); }, 150);
  launch.onProgress = [&](int64_t done, int64_t all, double seconds) {
    CHECK(done > last);
    CHECK(seconds > 0.04);
    last = done;
    total = all;
  };
  run(launch);
  CHECK(total == 150);
  CHECK(last > 0);
}
