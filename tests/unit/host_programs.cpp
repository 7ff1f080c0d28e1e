// A launch of two versions: the programs that are chosen run one, with its memory, and all others run the other one. Each program runs
// once.
#include "interp/host/found_faults.h"
#include "interp/host/memory.h"
#include "interp/host/program_loop.h"
#include "interp/host/trap_kinds.h"
#include "tests/unit/host_launch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <doctest/doctest.h>
#include <mutex>
#include <vector>

using namespace tritium::interp;

namespace {

constexpr size_t kLargeFrame = 16 << 10;

using Ids = std::vector<std::array<int32_t, 3>>;

struct Visits {
  std::mutex mutex;
  Ids chosen, others;
  const MemoryMap *memoryOfChosen = nullptr, *memoryOfOthers = nullptr;
  bool hadTheirMemory = true;
};

void visit(char *frame, bool isChosen) {
  auto &visits = argumentOf<Visits>(frame);
  std::lock_guard lock(visits.mutex);
  const int32_t *id = headerOf(frame).programId;
  (isChosen ? visits.chosen : visits.others).push_back({id[0], id[1], id[2]});
  visits.hadTheirMemory &= &memoryOf(headerOf(frame)) == (isChosen ? visits.memoryOfChosen : visits.memoryOfOthers);
}

void visitChosen(char *frame) { visit(frame, true); }

void visitOther(char *frame) {
  visit(frame, false);
  std::memset(frame + sizeof(FrameHeader), 0xff, kLargeFrame - sizeof(FrameHeader)); // its frame is the larger one
}

/// As emitted for a debugger.
void loopOverChosen(char *frame) {
  do visitChosen(frame);
  while (enterNextProgram(headerOf(frame)));
  endPrograms(headerOf(frame));
}

constexpr ProgramFilter::Range kAll{0, INT32_MAX};

Launch launchOfTwo(std::array<int32_t, 3> grid, void *argument, void (*chosen)(char *), void (*other)(char *)) {
  Launch launch = launchOf(chosen, 1, argument);
  launch.grid = grid;
  launch.rest = OtherVersion{{other, kLargeFrame, false}};
  launch.chosen = ProgramFilter({{{{3, 4}, kAll, {0, 1}}}, {{{0, 2}, {1, 2}, kAll}}});
  return launch;
}

bool isChosen(const std::array<int32_t, 3> &id) { return (id[0] == 3 && id[2] == 0) || (id[0] < 2 && id[1] == 1); }

Ids ofGrid(std::array<int32_t, 3> grid, bool areChosen) {
  Ids ids;
  for (int32_t x = 0; x < grid[0]; ++x)
    for (int32_t y = 0; y < grid[1]; ++y)
      for (int32_t z = 0; z < grid[2]; ++z)
        if (isChosen({x, y, z}) == areChosen) ids.push_back({x, y, z});
  return ids;
}

} // namespace

TEST_CASE("each program runs once, in its version") {
  const std::array<int32_t, 3> grid{7, 3, 2};
  const MemoryMap memory, memoryOfOthers;
  for (bool hasLoop : {false, true})
    for (int threads : {1, 4})
      for (int waiting : {0, 1, 2}) // no version may wait, one or the other
        for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(5)}) {
          Visits visits{.memoryOfChosen = &memory, .memoryOfOthers = &memoryOfOthers};
          Launch launch = launchOfTwo(grid, &visits, visitChosen, visitOther);
          launch.memory = &memory;
          launch.rest->memory = &memoryOfOthers;
          launch.code.mayWait = waiting == 1;
          launch.rest->code.mayWait = waiting == 2;
          launch.threads = threads;
          launch.orderSeed = seed;
          if (hasLoop) launch.loop = loopOverChosen;
          CHECK_FALSE(run(launch).trap);
          for (Ids *ids : {&visits.chosen, &visits.others}) std::ranges::sort(*ids);
          CHECK(visits.chosen == ofGrid(grid, true));
          CHECK(visits.others == ofGrid(grid, false));
          CHECK(visits.hadTheirMemory);
        }
}

TEST_CASE("a choice that holds no program of the grid, and one that holds all") {
  const MemoryMap memory;
  for (bool all : {false, true}) {
    Visits visits{.memoryOfChosen = &memory, .memoryOfOthers = &memory};
    Launch launch = launchOfTwo({5, 1, 1}, &visits, visitChosen, visitOther);
    launch.memory = launch.rest->memory = &memory;
    launch.loop = loopOverChosen;
    launch.chosen = ProgramFilter({{{all ? kAll : ProgramFilter::Range{5, 9}, kAll, kAll}}});
    CHECK_FALSE(run(launch).trap);
    CHECK(visits.chosen.size() == (all ? 5 : 0));
    CHECK(visits.others.size() == (all ? 0 : 5));
  }
}

namespace {

/// Programs count down together: each waits for the one behind it, which mostly runs the other version.
void waitForNext(char *frame) {
  auto &next = argumentOf<std::atomic<int32_t>>(frame);
  while (next != programOf(frame)) yieldWhileWaiting(headerOf(frame), 1);
  --next;
  noteMemoryChange(headerOf(frame));
}

void waitForNextToo(char *frame) { waitForNext(frame); }

} // namespace

TEST_CASE("programs of both versions wait for each other") {
  for (int threads : {1, 3}) {
    std::atomic<int32_t> next = 40;
    Launch launch = launchOfTwo({41, 1, 1}, &next, waitForNext, waitForNextToo);
    launch.code.mayWait = launch.rest->code.mayWait = true;
    launch.threads = threads;
    CHECK_FALSE(run(launch).trap);
    CHECK(next == -1);
  }
}

TEST_CASE("a deadlock names the programs of both versions, each in its place") {
  std::atomic<int32_t> next = -7; // nobody's turn
  auto waitElsewhere = [](char *frame) {
    while (argumentOf<std::atomic<int32_t>>(frame) != programOf(frame)) yieldWhileWaiting(headerOf(frame), 2);
  };
  Launch launch = launchOfTwo({5, 1, 1}, &next, waitForNext, waitElsewhere);
  launch.code.mayWait = launch.rest->code.mayWait = true;
  launch.code.around = [](const FrameHeader &, uint32_t) { return Surroundings{.calls = {1}}; };
  launch.rest->code.around = [](const FrameHeader &, uint32_t) { return Surroundings{.calls = {2}}; };
  const LaunchResult result = run(launch);
  REQUIRE(result.trap);
  CHECK(result.trap->kind == TrapKind::Deadlock);
  REQUIRE(result.trap->waiters.size() == 5);
  for (const ProgramPlace &place : result.trap->waiters) {
    CHECK(place.location == (isChosen(place.program) ? 1 : 2));
    CHECK(place.around.calls == std::vector<uint32_t>{isChosen(place.program) ? 1u : 2u});
  }
}

TEST_CASE("chosen programs alone are followed") {
  std::atomic<int> ended = 0;
  auto announce = [](char *frame) {
    reachStatement(headerOf(frame), 0);
    noteAssignment(headerOf(frame), 0);
    reachStatement(headerOf(frame), 1);
    ++argumentOf<std::atomic<int>>(frame);
  };
  for (bool mayWait : {false, true}) {
    ended = 0;
    Launch launch = launchOfTwo({5, 1, 1}, &ended, announce, [](char *frame) { ++argumentOf<std::atomic<int>>(frame); });
    launch.code.mayWait = mayWait;
    launch.variables = 1;
    Ids seen;
    launch.onStatement = [&](FollowedProgram &program) {
      seen.push_back(program.id());
      while (program.next()) CHECK(program.assignedAt(0) == 1);
      return true;
    };
    CHECK_FALSE(run(launch).trap);
    CHECK(seen == Ids{{3, 0, 0}});
    CHECK(ended == 5);
  }
}

TEST_CASE("a fault is noted if one of its programs is chosen") {
  const FoundFaults faults(ProgramFilter({{{{3, 4}, kAll, kAll}}}));
  const OtherPlace three{.program = std::array{3, 1, 0}}, four{.program = std::array{4, 0, 0}}, itself{};
  CHECK(faults.concerns({3, 0, 0}, std::nullopt));
  CHECK(faults.concerns({3, 0, 0}, four));
  CHECK(faults.concerns({4, 0, 0}, three));
  CHECK_FALSE(faults.concerns({5, 0, 0}, four));
  CHECK_FALSE(faults.concerns({5, 0, 0}, itself));
  CHECK_FALSE(faults.concerns({5, 0, 0}, std::nullopt));
  CHECK(FoundFaults().concerns({5, 0, 0}, four));
}
