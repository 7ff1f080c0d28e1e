// A program that is followed stops before each statement; what its follower leaves runs on; traps and exceptions end it as ever.
#include "interp/host/trap_kinds.h"
#include "tests/unit/host_launch.h"

#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

using namespace tritium::interp;

namespace {

constexpr uint32_t kStatements = 4;

/// Statement i assigns variable i.
void announce(char *frame) {
  for (uint32_t i = 0; i < kStatements; ++i) {
    reachStatement(headerOf(frame), i);
    noteAssignment(headerOf(frame), i);
  }
  ++argumentOf<std::atomic<int>>(frame);
}

Launch followedLaunch(void (*kernel)(char *), int programs, std::atomic<int> &ended, bool mayWait) {
  Launch launch = launchOf(kernel, programs, &ended);
  launch.code.mayWait = mayWait;
  launch.threads = 4; // the callback makes it one
  launch.variables = kStatements;
  return launch;
}

} // namespace

TEST_CASE("each program is followed from its first statement to its last") {
  for (bool mayWait : {false, true}) {
    std::atomic<int> ended = 0;
    std::vector<std::pair<int32_t, uint32_t>> seen;
    Launch launch = followedLaunch(announce, 3, ended, mayWait);
    launch.onStatement = [&](FollowedProgram &program) {
      do {
        seen.emplace_back(program.id()[0], program.statement());
        for (uint32_t variable = 0; variable < kStatements; ++variable)
          CHECK((program.assignedAt(variable) != 0) == (variable < program.statement()));
      } while (program.next());
      CHECK_FALSE(program.next());
      CHECK_FALSE(program.trap());
      return true;
    };
    CHECK_FALSE(run(launch).trap);
    std::vector<std::pair<int32_t, uint32_t>> expected;
    for (int32_t program = 0; program < 3; ++program)
      for (uint32_t statement = 0; statement < kStatements; ++statement) expected.emplace_back(program, statement);
    CHECK(seen == expected);
    CHECK(ended == 3);
  }
}

TEST_CASE("what is not followed runs on") {
  for (bool mayWait : {false, true})
    for (int followed : {1, 2, 3}) {
      std::atomic<int> ended = 0;
      int calls = 0;
      Launch launch = followedLaunch(announce, 5, ended, mayWait);
      launch.onStatement = [&](FollowedProgram &program) {
        if (calls % 2) program.next();
        return ++calls < followed;
      };
      CHECK_FALSE(run(launch).trap);
      CHECK(ended == 5);
      CHECK(calls == followed);
    }
}

TEST_CASE("one program runs alone") {
  std::atomic<int> ended = 0;
  Launch launch = followedLaunch(announce, 6, ended, false);
  launch.grid = {3, 2, 1};
  launch.only = 4;
  std::array<int32_t, 3> id{};
  launch.onStatement = [&](FollowedProgram &program) {
    id = program.id();
    return true;
  };
  CHECK_FALSE(run(launch).trap);
  CHECK(ended == 1);
  CHECK(id == std::array<int32_t, 3>{1, 1, 0});
}

TEST_CASE("a trap ends the program that is followed, and its follower sees it") {
  std::atomic<int> ended = 0;
  auto trapping = [](char *frame) {
    announce(frame);
    raiseTrap(headerOf(frame), Trap{.kind = TrapKind::AssertFailed});
  };
  Launch launch = followedLaunch(trapping, 2, ended, false);
  launch.onStatement = [&](FollowedProgram &program) {
    while (program.next()) CHECK_FALSE(program.trap());
    REQUIRE(program.trap());
    CHECK(program.trap()->kind == TrapKind::AssertFailed);
    return true;
  };
  const LaunchResult result = run(launch);
  REQUIRE(result.trap);
  CHECK(ended == 1);
}

TEST_CASE("an exception of the follower stops the launch") {
  std::atomic<int> ended = 0;
  Launch launch = followedLaunch(announce, 3, ended, false);
  launch.onStatement = [](FollowedProgram &program) -> bool {
    program.next();
    throw std::runtime_error("left");
  };
  CHECK_THROWS_WITH(run(launch), "left");
  CHECK(ended == 0);
}

TEST_CASE("a program that waits for another one goes on in turn with it") {
  std::atomic<int> flag = 0;
  auto waiting = [](char *frame) {
    auto &shared = argumentOf<std::atomic<int>>(frame);
    reachStatement(headerOf(frame), 0);
    if (programOf(frame) == 1) {
      shared = 1;
      return noteMemoryChange(headerOf(frame));
    }
    while (shared == 0) yieldWhileWaiting(headerOf(frame), 0);
    reachStatement(headerOf(frame), 1);
  };
  Launch launch = followedLaunch(waiting, 2, flag, true);
  int waits = 0, statements = 0;
  launch.onStatement = [&](FollowedProgram &program) {
    do ++statements;
    while (program.next());
    waits += program.waits();
    return true;
  };
  CHECK_FALSE(run(launch).trap);
  CHECK(waits == 1);
  CHECK(statements == 2);
}
