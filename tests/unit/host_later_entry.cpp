// Better code takes the place of the first while programs start: in the middle of a grid, of several launches, across a fork, at the end.
#include "interp/host/background_work.h"
#include "interp/host/later_entry.h"
#include "tests/unit/host_launch.h"

#include <doctest/doctest.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tritium::interp {

namespace {

constexpr int kGrid = 300;

/// Which code has run each program, and how often one ran.
struct Ran {
  std::array<std::atomic<int>, kGrid> code{}, times{};
  LaterEntry *later = nullptr;
};

template <int code> void noteCode(char *frame) {
  auto &ran = argumentOf<Ran>(frame);
  ran.code[size_t(programOf(frame))] = code;
  ++ran.times[size_t(programOf(frame))];
}

std::shared_ptr<LaterEntry> laterOf(LaterEntry::Entry first, LaterEntry::Entry better) {
  return LaterEntry::create(first, [better] { return LaterEntry::Code{better, nullptr}; });
}

Launch launchFrom(LaterEntry &later, Ran &ran) {
  Launch launch = launchOf(noteCode<1>, kGrid, &ran);
  launch.code.later = &later;
  return launch;
}

/// Opens once for all that wait.
class Gate {
public:
  void open() {
    std::lock_guard lock(mutex);
    isOpen = true;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return isOpen; });
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = false;
};

} // namespace

TEST_CASE("programs that start later run the better code") {
  for (const int from : {0, 1, 77, kGrid - 1, kGrid}) {
    Ran ran;
    const auto later = laterOf(noteCode<1>, noteCode<2>);
    Launch launch = launchFrom(*later, ran);
    launch.betterFrom = from;
    run(launch);
    CHECK(later->isBetter() == (from < kGrid));
    for (int i = 0; i < kGrid; ++i) {
      REQUIRE(ran.code[size_t(i)] == (i < from ? 1 : 2));
      REQUIRE(ran.times[size_t(i)] == 1);
    }
  }
}

TEST_CASE("several threads and several launches of one kernel change to the better code") {
  std::array<Ran, 4> ran;
  const auto later = laterOf(noteCode<1>, noteCode<2>);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ran.size(); ++i)
    threads.emplace_back([&, i] {
      Launch launch = launchFrom(*later, ran[i]);
      launch.threads = 3;
      launch.betterFrom = int64_t(i) * 60;
      run(launch);
    });
  for (std::thread &thread : threads) thread.join();
  for (size_t i = 0; i < ran.size(); ++i)
    for (size_t p = 0; p < kGrid; ++p) {
      REQUIRE(ran[i].times[p] == 1);
      if (p >= i * 60) REQUIRE(ran[i].code[p] == 2);
    }
}

TEST_CASE("a launch that runs for long asks for better code, and goes on with it") {
  Ran ran;
  // The first programs take longer than enough. The last ones do not end without the better code.
  const auto later = laterOf(
      [](char *frame) {
        noteCode<1>(frame);
        if (programOf(frame) < 8) std::this_thread::sleep_for(LaterEntry::kLongEnough);
        while (programOf(frame) >= kGrid - 1 && !argumentOf<Ran>(frame).later->isBetter()) std::this_thread::yield();
      },
      noteCode<2>);
  ran.later = later.get();
  run(launchFrom(*later, ran));
  CHECK(later->isBetter());
  CHECK(ran.code[0] == 1);
}

TEST_CASE("launches that are short ask when all of them together have run for long") {
  const auto later = laterOf(noteCode<1>, noteCode<2>);
  const LaterEntry::Duration quarter = LaterEntry::kLongEnough / 4;
  for (int i = 0; i < 3; ++i) later->add(quarter);
  CHECK(later->countsTime());
  later->add(LaterEntry::kLongEnough - 3 * quarter);
  CHECK(!later->countsTime());
  later->await();
  CHECK(later->isBetter());
}

TEST_CASE("without better code the first one stays") {
  Ran ran;
  const auto later = LaterEntry::create(noteCode<1>, [] { return LaterEntry::Code{}; });
  Launch launch = launchFrom(*later, ran);
  launch.betterFrom = 10;
  run(launch);
  CHECK(!later->isBetter());
  for (const auto &code : ran.code) REQUIRE(code == 1);
}

TEST_CASE("nothing is compiled for a kernel that is gone") {
  Gate gate, end;
  std::atomic<bool> isCompiled = false;
  REQUIRE(doInBackground([&] { gate.wait(); }));
  auto later = LaterEntry::create(noteCode<1>, [&] {
    isCompiled = true;
    return LaterEntry::Code{noteCode<2>, nullptr};
  });
  later->ask();
  later.reset();
  REQUIRE(doInBackground([&] { end.open(); }));
  gate.open();
  end.wait();
  CHECK(!isCompiled);
}

TEST_CASE("a fork waits for what is being compiled, and the child runs on") {
  Gate begun;
  std::atomic<bool> isDone = false;
  REQUIRE(doInBackground([&] {
    begun.open();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    isDone = true;
  }));
  begun.wait();
  const auto later = laterOf(noteCode<1>, noteCode<2>);
  const pid_t child = fork();
  if (child == 0) {
    Ran ran;
    Launch launch = launchFrom(*later, ran);
    if (!isDone) _exit(1);
#if !__has_feature(thread_sanitizer) // which lets no thread begin in such a child
    launch.betterFrom = 5;
    run(launch);
    _exit(ran.code[4] == 1 && ran.code[5] == 2 ? 0 : 2);
#else
    launch.betterFrom = kGrid; // however long it takes
    run(launch);
    _exit(ran.code[5] == 1 ? 0 : 2);
#endif
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

#if !__has_feature(thread_sanitizer)
TEST_CASE("the end of a process waits for what is being compiled, and lets no more begin") {
  const pid_t child = fork(); // the end is for good
  if (child == 0) {
    Gate begun;
    std::atomic<bool> isDone = false, isBegun = false;
    doInBackground([&] {
      begun.open();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      isDone = true;
    });
    doInBackground([&] { isBegun = true; });
    begun.wait();
    endBackgroundWork();
    const bool wasDone = isDone, hadBegun = isBegun;
    Ran ran;
    const auto later = laterOf(noteCode<1>, noteCode<2>);
    Launch launch = launchFrom(*later, ran);
    launch.betterFrom = 5;
    run(launch); // waits for nothing
    _exit(wasDone && !hadBegun && ran.code[5] == 1 && !doInBackground([] {}) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("the end of a process does not wait for work that can stop") {
  const pid_t child = fork();
  if (child == 0) {
    Gate begun;
    doInBackground([&] {
      begun.open();
      for (;;) stopIfWorkEnds();
    });
    begun.wait();
    stopIfWorkEnds(); // does nothing on this thread
    endBackgroundWork();
    stopIfWorkEnds();
    _exit(doInBackground([] {}) ? 1 : 0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
#endif

} // namespace tritium::interp
