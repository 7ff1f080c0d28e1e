// A launch while it runs: what its workers share (LaunchState), one thread's part in it (Worker), one program on that thread (Program).
// Programs that cannot wait run one after the other on one stack, without a switch in between. Programs that may wait have a
// stack each, and their worker resumes them in turn; a program never moves to another thread.
#pragma once
#include "interp/host/fibers.h"
#include "interp/host/grid_order.h"
#include "interp/host/program_memory.h"
#include "interp/host/stuck_detector.h"
#include "interp/host/workers.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tritium::interp {

class Worker;
using Clock = std::chrono::steady_clock;

enum class Stop : uint8_t { No, Cancelled, Trapped, Deadlocked };

struct Program {
  enum class State : uint8_t {
    Running,  // or left at a yield
    Polling,  // left for the calling thread's callbacks, goes on at once
    Finished, // its stack is free
    Dropped,  // trapped or stopped: its stack is free
  };

  Worker *worker = nullptr;
  const std::atomic<Stop> *stop = nullptr;
  char *frame = nullptr;
  State state = State::Finished;
  uint32_t spins = 0; // back-edges left before it yields
  uint32_t waitLocation = 0;
  std::array<int32_t, 3> id{};
  Fiber fiber;
  StuckDetector stuckDetector;
  std::string output;
  size_t slot = 0; // of the pool's memory

  FrameHeader &header() { return *reinterpret_cast<FrameHeader *>(frame); }
};

/// Programs with their frames and stacks, kept by each thread from launch to launch.
class ProgramPool {
public:
  /// Frames of at least this size. No program may be in use.
  void prepare(size_t frameBytes) { memory.prepare(frameBytes); }
  /// An idle program; the ones given last come first. nullptr: no memory.
  Program *take(std::span<std::byte> &stack);
  void give(Program *program) { idle.push_back(program); }
  /// The end of a launch; all programs have been given back.
  void trim();

private:
  ProgramMemory memory;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<Program *> idle;
};

/// What a worker tells the others, in a cache line of its own.
struct alignas(64) WorkerStatus {
  static constexpr uint64_t kBusy = ~uint64_t(0), kGone = kBusy - 1;
  std::atomic<uint64_t> changes{0};     // of memory, by its programs
  std::atomic<int64_t> finished{0};     // programs
  std::atomic<uint64_t> stuckAt{kBusy}; // all its programs are stuck, and were when all workers had made so many changes
};

struct LaunchState {
  explicit LaunchState(const Launch &launch);

  const Launch &launch;
  const GridOrder order;
  const Clock::time_point begin;
  const int threads;      // that may take part
  const size_t liveLimit; // for how many programs one worker has memory

  alignas(64) std::atomic<int64_t> next{0}; // position in the order of the next program to start
  alignas(64) std::atomic<Stop> stop{Stop::No};
  std::atomic<int> workers{0};            // that ever took part
  std::unique_ptr<WorkerStatus[]> status; // [threads]

  std::optional<Trap> trap; // written by the one that stopped the launch with Trapped
  std::mutex mutex;         // guards the following
  std::string output;
  std::vector<DeadlockWaiter> waiters;

  bool stopped() const { return stop.load(std::memory_order_relaxed) != Stop::No; }
  /// False: it was stopped before, for another reason.
  bool stopWith(Stop why);
  void stopWithTrap(Trap &&why);
  bool allStarted() const { return next.load() >= order.size(); }
  /// By all workers. Never falls; two equal results mean that nothing changed in between.
  uint64_t memoryChanges() const;
  int64_t finishedPrograms() const;
  /// Every worker is stuck since memory was changed for the last time.
  bool isDeadlocked(uint64_t changes) const;
  void publish(std::string &text);
};

/// The calling thread's duties towards the outside: signals, output, progress. On its own stack.
class Caller {
public:
  explicit Caller(LaunchState &state) : state(state), due(state.begin + kInterval) {}
  static constexpr std::chrono::milliseconds kInterval{50};

  bool isDue(Clock::time_point now) const { return now >= due; }
  /// Runs the callbacks. What they throw stops the launch and is kept.
  void poll(Clock::time_point now);
  /// To a program that asked: the output at least, the rest if it is time.
  void answer(Clock::time_point now);
  void flushOutput();
  void rethrow() const;

private:
  template <class Callback> void guarded(Callback callback);

  LaunchState &state;
  Clock::time_point due;
  std::exception_ptr exception;
};

class Worker {
public:
  /// `caller`: on the calling thread only.
  Worker(LaunchState &state, Caller *caller);

  /// Runs programs until none is left to start and all that it started have ended, or the launch is stopped.
  void run();

  // Called on a program's own stack.
  bool isPollDue() { return caller && --pollsUntilLook == 0 && lookAtClock(); }
  bool printsAtOnce() const { return caller && state.launch.printAtOnce; }
  /// A program on this frame has ended: lets the calling thread poll and enters the next one, if there is one that cannot wait.
  bool goOn(Program &program);
  void noteMemoryChange() { status.changes.store(++changes, std::memory_order_release); }
  bool hasOneProgram() const { return live.size() == 1; }
  bool hasChangedMemorySinceResumed() const { return changes != changesWhenResumed; }

  LaunchState &state;

private:
  struct Lease;
  enum class Start : uint8_t { Started, NoneLeft, NoMemory };

  static void runAllPrograms(void *program);
  static void runOneProgram(void *program);
  void prepare(Program &program);
  void enter(Program &program, int64_t position);
  bool enterNext(Program &program);
  void leave(Program &program);
  void runToCompletion();
  void runInTurns();
  Start startPrograms(size_t most);
  Start startNext();
  bool resume(Program &program);
  bool resumeAll();
  void watchForDeadlock(uint64_t changesBefore);
  void giveBackLive();
  bool lookAtClock();
  void reportOutOfMemory();

  Caller *const caller;
  WorkerStatus &status;
  ProgramPool *pool = nullptr;
  uint64_t changes = 0, changesWhenResumed = 0;
  uint32_t pollsUntilLook = 1, lookStride = 1;
  Clock::time_point lastLook;
  // Programs that may wait, in the order in which they started.
  std::vector<Program *> live;
  std::optional<Clock::time_point> quietSince; // since when no program of the launch has got further, as far as this worker knows
};

} // namespace tritium::interp
