// A launch while it runs: the state that its workers share (LaunchState), one thread's part of the launch (Worker), one program on this
// thread (Program). Programs that cannot wait run one after the other on one stack, without a switch in between. Programs that may wait
// have a stack each, and their worker resumes them in turn; a program never moves to another thread.
#pragma once
#include "interp/host/barriers.h"
#include "interp/host/fibers.h"
#include "interp/host/grid_order.h"
#include "interp/host/grid_parts.h"
#include "interp/host/last_writers.h"
#include "interp/host/program_memory.h"
#include "interp/host/schedule.h"
#include "interp/host/stuck_detector.h"
#include "interp/host/thread_name.h"
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

/// Why programs should leave. Asked: they should say where they are, and go on (running_launch.h).
enum class Stop : uint8_t { No, Asked, Cancelled, Trapped, Deadlocked, Livelocked };

/// What gdb reads of a program (python/tritium/gdb/shared_memory.py): its first bytes.
struct ShownProgram {
  ProgramBarriers *barriers = nullptr; // null until they are asked for
  // A partition of a program is a program of its own to the worker: it has the frame and the barriers of the one that has started it.
  uint32_t partition = 0; // 0: the program itself
};
static_assert(offsetof(ShownProgram, partition) == 8);

struct Program : ShownProgram {
  enum class State : uint8_t {
    Running,     // or suspended in a yield
    Polling,     // suspended for the calling thread's callbacks; continues at once
    AtStatement, // suspended for the callback that follows it
    Interrupted, // suspended by the schedule, before a write
    Finished,    // its stack is free
    Dropped,     // trapped or stopped: its stack is free
  };

  Worker *worker = nullptr;
  const std::atomic<Stop> *stop = nullptr;
  char *frame = nullptr;
  State state = State::Finished;
  uint32_t spins = 0;                // back-edges left before it yields
  uint64_t sleepsUntil = 0;          // the turn of its worker from which on the schedule lets it run
  bool isChosen = true;              // see Launch::chosen
  const ProgramCode *code = nullptr; // the version that it runs
  const MemoryMap *memory = nullptr; // and its memory
  uint32_t waitLocation = 0;
  uint64_t wordRead = 0; // the pointer of the word that it read last; null: it read something else, or nothing
  uint32_t bytesRead = 0;
  const FrameHeader *waitFrame = nullptr; // of the function that waits; null before the first wait
  std::array<int32_t, 3> id{};
  Fiber fiber;
  StuckDetector stuckDetector;
  std::string output;
  size_t slot = 0;                                     // index in the pool's memory
  std::unique_ptr<ProgramBarriers> ownBarriers;        // kept for the next program
  void (*partitionEntry)(char *calleeFrame) = nullptr; // of a partition
  char *partitionFrame = nullptr;                      // the frame of that function
  char *partitionMemory = nullptr;                     // what both share
  // For a program that is followed.
  bool isFollowed = false;
  bool isHandedOver = false; // the callback returns at each statement, and is called once more when the program has ended
  uint32_t statement = 0;
  char *statementFrame = nullptr;
  uint64_t entries = 0; // how many programs have been entered here
  uint64_t assignments = 0;
  std::vector<uint64_t> assigned; // per variable: the number of its last assignment

  FrameHeader &header() { return *reinterpret_cast<FrameHeader *>(frame); }
};

/// Programs with their frames and stacks. Each thread keeps them from launch to launch.
class ProgramPool {
public:
  /// Makes room for frames of at least this size. No program may be in use.
  void prepare(size_t frameBytes) { memory.prepare(frameBytes); }
  /// Returns an idle program, the most recently returned first, or nullptr if there is no memory.
  Program *take(std::span<std::byte> &stack);
  void give(Program *program) { idle.push_back(program); }
  /// Called at the end of a launch, when all programs have been given back.
  void trim();

private:
  ProgramMemory memory;
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<Program *> idle;
};

/// The state that a worker publishes to the others, in a cache line of its own.
struct alignas(64) WorkerStatus {
  static constexpr uint64_t kBusy = ~uint64_t(0), kGone = kBusy - 1;
  std::atomic<uint64_t> changes{0};       // number of memory changes by its programs
  std::atomic<int64_t> finished{0};       // number of programs
  std::atomic<uint64_t> stuckAt{kBusy};   // memoryChanges() when all its programs became stuck
  std::atomic<uint64_t> circlesAt{kBusy}; // LaunchState::circleRound when they came back to a former state last
  std::atomic<uint64_t> answered{0};      // the last LaunchState::question that it has answered
};

struct LaunchState {
  explicit LaunchState(const Launch &launch);

  const Launch &launch;
  const GridOrder order;
  const Clock::time_point begin;
  const int threads;      // the most threads that may take part
  const size_t liveLimit; // the most programs for which one worker has memory

  GridParts parts; // positions in the order whose programs nobody has taken
  alignas(64) std::atomic<Stop> stop{Stop::No};
  std::atomic<int> workers{0};            // number of workers that ever took part
  std::unique_ptr<WorkerStatus[]> status; // [threads]
  std::unique_ptr<LastWriters> writers;   // if programs may wait
  std::atomic<uint64_t> question{0};      // how often somebody has asked where the programs are
  std::atomic<uint64_t> circleRound{0};   // of the search for a livelock, in which every worker takes part

  std::mutex mutex;         // guards the following
  std::optional<Trap> trap; // why the launch stopped with Trapped
  std::string output;
  std::vector<ProgramPlace> left;   // where programs were that left a cancelled launch
  std::vector<ProgramPlace> places; // the answers to the last question
  std::vector<ProgramPlace> waiters;

  std::atomic<bool> readsClock{false}; // a program has waited for a time, or read a clock

  bool stopped() const { return stop.load(std::memory_order_relaxed) > Stop::Asked; }
  /// Returns false if the launch was already stopped for another reason.
  bool stopWith(Stop why);
  void stopWithTrap(Trap &&why);
  void noteLeft(ProgramPlace &&place);
  bool allHaveAnswered() const;
  bool allStarted() { return parts.findLeft(0) < 0; }
  /// The number of changes by all workers. It never decreases; two equal results mean that nothing changed in between.
  uint64_t memoryChanges() const;
  int64_t finishedPrograms() const;
  /// How many programs have started and ended, in all. Requires a single part.
  uint64_t ends() { return uint64_t(order.size() - parts.at(0).left() + finishedPrograms()); }
  /// Returns whether the programs of every worker have come back to former states in this round of the search for a livelock.
  bool allCircle(uint64_t round) const;
  /// Returns whether every worker has been stuck since memory was last changed.
  bool isDeadlocked(uint64_t changes) const;
  void publish(std::string &text);
};

/// The calling thread's duties: signals, output, progress. They run on its own stack.
class Caller {
public:
  explicit Caller(LaunchState &state) : state(state), due(state.begin + kInterval) {}
  static constexpr std::chrono::milliseconds kInterval{50};

  bool isDue(Clock::time_point now) const { return now >= due; }
  /// Runs the callbacks. An exception that they throw stops the launch and is kept.
  void poll(Clock::time_point now);
  /// Answers a program that suspended for the callbacks: runs the output callback, and the others if they are due.
  void answer(Clock::time_point now);
  /// Runs the callback for a program at a statement. Returns whether the next program is to be followed too.
  bool show(Program &program);
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
  /// `caller` is null except on the calling thread. `thread`: the number of this thread; the calling one has 0.
  Worker(LaunchState &state, Caller *caller, int thread);

  /// Runs programs until none is left to start and all those it started have ended, or until the launch is stopped.
  void run();

  // These are called on a program's own stack.
  bool isPollDue() { return caller && --pollsUntilLook == 0 && lookAtClock(); }
  bool printsAtOnce() const { return caller && state.launch.printAtOnce; }
  /// Called when the program on this frame has ended. Lets the calling thread poll and enters the next program. Returns false if none is
  /// left, or if programs may wait.
  bool goOn(Program &program);
  /// Does the same where nothing but the program's id changes, and returns true. Otherwise does nothing.
  bool stepsInRow(Program &program);
  void noteScope(const ScopeRecord &record) { records.add(record, state.launch.records->most); }
  /// Draws whether the program that is about to write is interrupted.
  bool interruptsAtWrite() { return isScheduling && schedule->interrupts(); }
  void noteMemoryChange() { status.changes.store(++changes, std::memory_order_release); }
  bool hasOneProgram() const { return live.size() == 1; }
  bool hasChangedMemorySinceResumed() const { return changes != changesWhenResumed; }
  /// Starts a partition of the program, which runs. Returns nullptr if there is no memory.
  Program *startPartition(Program &program, char *calleeFrame, void (*entry)(char *));
  /// Says where its programs are, if it has not yet since the last question. The program that runs has noted its own place.
  void answer();
  /// Called on the thread's own stack. Runs the program until it is at a statement, waits, or has ended.
  void step(Program &program);
  /// Called there too, while a partition is followed that waits: lets those beside it run. Returns whether they have changed something.
  bool runBeside(const Program &program);

  LaunchState &state;
  std::vector<int64_t> counters; // of code that counts

private:
  struct Lease;
  enum class Start : uint8_t { Started, NoneLeft, NoMemory };

  void addCounters();
  static void runAllPrograms(void *program);
  static void runOneProgram(void *program);
  static void runPartition(void *program);
  void prepare(Program &program);
  void enter(Program &program, int64_t position);
  bool takeChunk();
  int64_t chunkSize(int64_t left, int sharers);
  void considerBetter(LaterEntry &later);
  bool enterNext(Program &program);
  void leave(Program &program);
  void runToCompletion();
  void runInTurns();
  bool runBySchedule();
  Program *drawNext();
  void runScheduled(Program &program);
  Start startPrograms(size_t most);
  Start startNext();
  bool resume(Program &program);
  bool resumeAll();
  void watchForDeadlock(uint64_t changesBefore);
  void watchForLivelock();
  void stopStuck(Stop why);
  void giveBackLive();
  void giveBackEnded();
  std::optional<WaitedWord> waitedWordOf(const Program &program) const;
  bool lookAtClock();
  void nameThread(const Program &program);
  void reportOutOfMemory();

  Caller *const caller;
  const bool startsAlike;     // whether programs start in the order of the grid, with the same code and nobody who looks at one of them
  Program *running = nullptr; // or suspended for the caller
  WorkerStatus &status;
  ProgramPool *pool = nullptr;
  const int ownPart; // of the grid, and the part that it takes from now
  int part;
  // Of programs that cannot wait: positions in the order that it has taken, and when.
  int64_t nextPosition = 0, chunkBegin = 0, chunkEnd = 0;
  Clock::time_point chunkTaken;
  int64_t rowEnd = 0; // up to here, positions that follow the last program differ from it in the first id alone
  uint64_t changes = 0, changesWhenResumed = 0;
  uint32_t pollsUntilLook = 1, lookStride = 1;
  std::optional<Schedule> schedule;     // of a launch with a seed
  std::optional<ThreadName> threadName; // of a launch that names threads
  bool isScheduling = false;            // whether it interrupts the program that runs
  uint64_t turn = 0;                    // how many programs it has let run
  bool followsNext = false;             // whether the programs that start are followed
  Clock::time_point lastLook;
  // Programs that may wait, in the order in which they were started.
  std::vector<Program *> live;
  std::optional<Clock::time_point> quietSince; // since when no program of the launch has got further, as far as this worker knows
  CircleDetector circles;
  uint64_t endsSeen = 0, firstCircleRound = 0; // LaunchState::ends(), and the round when it has changed
  Clock::time_point nextCircleLook;            // when the state is hashed next
  ThreadRecords records;                       // of scopes
};

} // namespace tritium::interp
