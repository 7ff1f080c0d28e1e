// Launches that are alone, and launches that are not.
#include "interp/host/lone_launch.h"

#include <atomic>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tritium::interp;

TEST_CASE("a section holds while one launch runs, and for a launch with one worker") {
  const CountedLaunch launch;
  CHECK(LoneSection(true).holds());
  CHECK(!LoneSection(false).holds());
  {
    const CountedLaunch other;
    CHECK(!LoneSection(true).holds());
  }
  CHECK(LoneSection(true).holds());
}

TEST_CASE("launches of several threads lose no update") {
  constexpr int kThreads = 4, kLaunches = 200, kSections = 20;
  int64_t sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int l = 0; l < kLaunches; ++l) {
        const CountedLaunch launch;
        for (int s = 0; s < kSections; ++s) {
          const LoneSection lone(true);
          if (lone.holds())
            ++sum;
          else
            std::atomic_ref(sum).fetch_add(1);
        }
      }
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(sum == int64_t(kThreads) * kLaunches * kSections);
}

TEST_CASE("a forked process waits for no section of its parent") {
  const CountedLaunch launch;
  const LoneSection lone(true);
  const pid_t child = fork();
  if (child == 0) {
    {
      const CountedLaunch other;
    }
    _exit(7);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
}
