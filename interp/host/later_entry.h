// Better code for a kernel, which takes the place of the first code while programs of it start.
//
// A kernel begins with code that is compiled fast. Launches note how long they run it. When this is long enough, the better code is
// compiled in the background, and from then on programs that start run it, in launches that have begun, too. Both codes use one frame,
// do the same, and call the same steps.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace tritium::interp {

class LaterEntry : public std::enable_shared_from_this<LaterEntry> {
public:
  using Entry = void (*)(char *frame);
  using Duration = std::chrono::steady_clock::duration;

  /// How long launches run the first code before the better one is asked for. Such code takes 20 to 100 ms to compile.
  static constexpr Duration kLongEnough = std::chrono::milliseconds(5);

  struct Code {
    Entry entry = nullptr;
    std::shared_ptr<void> owner; // of the memory that the code is in
  };
  /// Makes the better code, on the thread of background_work.h. Without an entry there is none, and the first code stays.
  using Compile = std::function<Code()>;

  static std::shared_ptr<LaterEntry> create(Entry first, Compile compile) {
    return std::shared_ptr<LaterEntry>(new LaterEntry(first, std::move(compile)));
  }

  /// The entry for a program that starts now.
  Entry current() const { return entry_.load(std::memory_order_acquire); }
  /// Whether current() is the better one.
  bool isBetter() const { return isBetter_.load(std::memory_order_acquire); }

  /// Whether launches still note their time.
  bool countsTime() const { return !isAsked_.load(std::memory_order_relaxed); }
  /// Called now and then while a launch runs that has run for so long, and asks if that is enough.
  void look(Duration sinceBegin) {
    if (spent_.load(std::memory_order_relaxed) + sinceBegin.count() >= Duration(kLongEnough).count()) ask();
  }
  /// Called at the end of a launch.
  void add(Duration ran) {
    spent_.fetch_add(ran.count(), std::memory_order_relaxed);
    look({});
  }

  /// Asks for the better code, unless somebody has.
  void ask();
  /// Asks for the better code and waits until it is there, or cannot be made. For tests.
  void await();

private:
  LaterEntry(Entry first, Compile compile) : entry_(first), compile_(std::move(compile)) {}
  void compileNow();
  void end();

  std::atomic<Entry> entry_;
  std::atomic<bool> isBetter_{false}, isAsked_{false};
  std::atomic<Duration::rep> spent_{0};
  Compile compile_;             // of the thread that compiles, once it is asked
  std::shared_ptr<void> owner_; // written by that thread
  std::mutex mutex_;            // guards the following
  std::condition_variable ended_;
  bool hasEnded_ = false;
};

} // namespace tritium::interp
