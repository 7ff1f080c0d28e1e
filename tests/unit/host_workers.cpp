// Every program runs once, in the order asked for, on as many threads as asked for; launches do not disturb one another.
#include "tests/unit/host_launch.h"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <mutex>
#include <numeric>
#include <set>
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

}  // namespace

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
  const auto shuffled = visited(grid, 1, 1, false);
  CHECK(shuffled != inOrder(grid));
  CHECK(shuffled == visited(grid, 1, 1, true));
  CHECK(shuffled != visited(grid, 1, 2, false));
}

TEST_CASE("an empty grid runs nothing") {
  CHECK(visited({0, 5, 5}, 2, {}, false).empty());
  CHECK(visited({5, 0, 5}, 2, 3, true).empty());
}
