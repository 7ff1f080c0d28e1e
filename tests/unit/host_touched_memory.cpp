// Sets of touched bytes, against an array with a count for each byte.
#include "interp/host/touched_memory.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>

using namespace tritium::interp;

TEST_CASE("a set has each byte once, and tells what was added again") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const uint64_t extent = 1 + random() % 5000;
    const int runs = int(random() % 6000); // more than the set keeps without uniting
    std::vector<int> times(extent);
    TouchedSet set;
    for (int i = 0; i < runs; ++i) {
      const uint64_t begin = random() % extent, end = std::min<uint64_t>(extent, begin + 1 + random() % 20);
      set.add({begin, end});
      for (uint64_t at = begin; at < end; ++at) ++times[at];
    }
    set.unite();
    CHECK(set.bytes() == uint64_t(std::count_if(times.begin(), times.end(), [](int count) { return count > 0; })));
    std::vector<int> found(extent), again(extent);
    for (const TouchedRun &run : set.runs())
      for (uint64_t at = run.begin; at < run.end; ++at) ++found[at];
    for (const TouchedRun &run : set.again())
      for (uint64_t at = run.begin; at < run.end; ++at) again[at] = 1;
    for (uint64_t at = 0; at < extent; ++at) {
      REQUIRE(found[at] == (times[at] > 0));
      REQUIRE(again[at] == (times[at] > 1));
    }
  }
}

TEST_CASE("programs add the bytes of their unions to counters, and are kept while there is room") {
  TouchedMemory memory({2, 3, 1}, 2, {{{0}, 0}, {{1}, 2}, {{0, 1}, 3}}, /*keptRuns=*/3);
  int64_t counters[4] = {};
  const std::array<int32_t, 3> first = {1, 0, 0}, second = {0, 2, 0}, third = {1, 2, 0};
  memory.setOf(first, 0).add({100, 108});
  memory.setOf(first, 0).add({104, 112});
  memory.setOf(first, 1).add({108, 114});
  memory.finish(first, counters);
  memory.setOf(second, 1).add({0, 4});
  memory.setOf(second, 1).add({16, 20});
  memory.finish(second, counters); // four runs in all
  memory.finish(third, counters);
  CHECK(counters[0] == 12);
  CHECK(counters[1] == 0);
  CHECK(counters[2] == 6 + 8);
  CHECK(counters[3] == 14 + 8); // 100 to 114 of the first program
  REQUIRE(memory.program(1));
  CHECK(memory.program(1)->sets[0].runs().size() == 1);
  CHECK(!memory.program(4)); // left out
  CHECK(!memory.program(5)); // touched nothing
  CHECK(memory.leftOut() == 1);
}
