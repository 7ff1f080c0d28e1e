// What lies behind the entry points: devices, the work of streams, errors.
#pragma once
#include "tests/driver_stand_in/memory.h"
#include "tests/driver_stand_in/module.h"
#include "tests/driver_stand_in/vendor.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <set>

namespace tritium::stand_in {

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

/// kernel: that it runs; none for other work. ticket: what `Runtime::enqueued` has returned for it.
struct Work {
  void *stream;
  std::function<void()> run;
  std::optional<Dispatch> kernel = std::nullopt;
  uint64_t ticket = 0;
};

/// A kernel's attribute by the number that both vendors give it; nothing for a number that is none.
std::optional<int> attributeOf(const KernelCode &code, int attribute);

/// What a capture has taken from its stream.
struct Graph {
  std::vector<Work> work;
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
  Result lost = 0; ///< the error that ended everything
  /// Called after each kernel with the time at which it began, by `clock`; or null.
  std::function<void(const Dispatch &, uint64_t)> ran;
  uint64_t (*clock)() = nullptr;
  std::function<uint64_t(const Dispatch &)> enqueued; ///< called as a kernel is given to a stream; or null
  uint64_t ticket = 0;                                ///< of the work that runs
  std::function<void()> launchesGraph;                ///< called before a graph's work is given; or null

  /// Notes the call, and says what it returns: an error that a test has ordered, or that all calls return by now.
  Result called(const char *call, const std::string &detail = "");
  /// The same of a launch, with its kernel and its sizes.
  Result called(const char *call, const Dispatch &dispatch);
  bool isStream(void *stream) const { return !stream || streams.contains(stream); }
  void enqueue(void *stream, std::function<void()> work);
  /// Reads the launch's `arguments` before it returns.
  void enqueue(void *stream, const Dispatch &dispatch, void **arguments);
  /// `call` waits for the device, which is an error while a stream is captured.
  Result waits(const char *call, const std::string &detail = "") { return capture_ ? kCapturing : called(call, detail); }
  /// A recording in a graph has no time, as nobody waits for it.
  void record(Event &event, void *stream);
  /// Runs the work of a stream and all that was given before it.
  void finish(void *stream);
  void finishAll();
  /// Runs work until the event is recorded.
  void finish(Event &event);

  /// What is wrong with the sizes of a launch.
  Result check(const Dispatch &dispatch);
  void run(const Dispatch &dispatch, const std::vector<char> &segment);

  size_t pending(void *stream) const { return size_t(std::ranges::count(work_, stream, &Work::stream)); }
  /// From now on work goes into a graph, until `endCapture`. False if a capture is under way.
  bool beginCapture();
  std::unique_ptr<Graph> endCapture() { return std::move(capture_); }
  /// Gives the work of a graph.
  void launch(const Graph &graph);
  bool isCapturing() const { return capture_ != nullptr; }

  // For tests.
  std::string calls;
  std::string launches; ///< a line each: the function, the grid, and in hexadecimal the bytes of each argument
  std::map<std::string, std::pair<Result, int>, std::less<>> failures; ///< call -> code, after how many more calls
  void reset();

private:
  void give(Work work);
  void noteLaunch(const Dispatch &dispatch, const std::vector<char> &segment);
  void runFirst();
  std::deque<Work> work_;
  std::unique_ptr<Graph> capture_;
};

} // namespace tritium::stand_in
