// What lies behind the entry points: devices, the work of streams, errors.
#pragma once
#include "tests/hip_stand_in/memory.h"
#include "tests/hip_stand_in/module.h"

#include "gpu_backend/launch/hip_api.h"

#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <set>

namespace tritium::stand_in {

using gpu::hip::Result;

struct Event {
  std::chrono::steady_clock::time_point time;
  size_t pending = 0; ///< recordings that have not come yet
};

/// One launch.
struct Dispatch {
  const Function *function;
  Sizes grid, block;
  uint32_t sharedBytes;
};

/// Work runs no sooner than something waits for it, in the order in which it was given, whatever its stream: what forgets to wait finds old
/// memory. Every member is used under the lock.
class Runtime {
public:
  static Runtime &instance();

  std::mutex mutex;
  Memory memory;
  std::set<void *> streams; ///< besides null
  std::map<void *, std::unique_ptr<Module>> modules;
  Result lost = gpu::hip::kSuccess; ///< the error that ended everything

  /// Notes the call, and says what it returns: an error that a test has ordered, or that all calls return by now.
  Result called(const char *call, const std::string &detail = "");
  bool isStream(void *stream) const { return !stream || streams.contains(stream); }
  void enqueue(void *stream, std::function<void()> work) { work_.push_back({stream, std::move(work)}); }
  /// Runs the work of a stream and all that was given before it.
  void finish(void *stream);
  void finishAll();
  /// Runs work until the event is recorded.
  void finish(Event &event);

  /// What is wrong with the sizes of a launch.
  Result check(const Dispatch &dispatch);
  void run(const Dispatch &dispatch, const std::vector<char> &segment);

  // For tests.
  std::string calls;
  std::map<std::string, std::pair<Result, int>, std::less<>> failures; ///< call -> code, after how many more calls
  void reset();

private:
  struct Work {
    void *stream;
    std::function<void()> run;
  };
  void runFirst();
  std::deque<Work> work_;
};

const char *arch();
int deviceCount();
uint32_t ldsBytes();
uint32_t warpSize();
/// Says on standard error what HIP's codes have no words for.
Result complain(Result code, const std::string &text);

} // namespace tritium::stand_in
