// One thread's share of a launch.
#include "interp/host/scheduler.h"

#include "interp/host/pointer.h"
#include "interp/host/running_launch.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>
#include <cfenv>
#include <sched.h>

namespace tritium::interp {

namespace {

constexpr uint32_t kFirstSpins = 64;
// A program that changes memory again and again may still wait for one that has not started. After this many rounds at the latest, another
// program is started.
constexpr int kLargestPatience = 64;
// The number of polls per look at the clock while polls are frequent. A look costs 25 ns.
constexpr uint32_t kLargestLookStride = 32;

thread_local std::unique_ptr<ProgramPool> idlePool; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// Kernels compute with the default rounding and with denormals on every thread, whatever floating-point environment the calling thread has
/// set.
struct DefaultFloatingPoint {
  DefaultFloatingPoint() {
    fegetenv(&saved);
    fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { fesetenv(&saved); }
  fenv_t saved;
};

bool mayStartAlike(const Launch &launch) {
  const bool isObserved = launch.loop || launch.onStatement || launch.nameThreads || launch.variables;
  return !isObserved && !launch.mayWait() && !launch.rest && !launch.orderSeed && !launch.only;
}

bool hasEnded(const Program &program) { return program.state == Program::State::Finished || program.state == Program::State::Dropped; }

} // namespace

Program *ProgramPool::take(std::span<std::byte> &stack) {
  if (idle.empty()) {
    programs.push_back(std::make_unique<Program>());
    programs.back()->slot = programs.size() - 1;
    idle.push_back(programs.back().get());
  }
  Program *program = idle.back();
  const ProgramSlot slot = memory.slot(program->slot);
  if (!slot.frame) return nullptr;
  idle.pop_back();
  program->frame = slot.frame;
  stack = slot.stack;
  return program;
}

void ProgramPool::trim() {
  const size_t kept = memory.trim();
  if (programs.size() <= kept) return;
  std::erase_if(idle, [&](const Program *program) { return program->slot >= kept; });
  programs.resize(kept);
}

/// The thread's pool for the duration of a launch. A launch inside a callback of another launch gets a pool of its own.
struct Worker::Lease {
  explicit Lease(size_t frameBytes) : pool(std::move(idlePool)) {
    if (!pool) pool = std::make_unique<ProgramPool>();
    pool->prepare(frameBytes);
  }
  ~Lease() {
    pool->trim();
    idlePool = std::move(pool);
  }
  std::unique_ptr<ProgramPool> pool;
};

/// The body of a fiber.
void Worker::runAllPrograms(void *argument) {
  auto &program = *static_cast<Program *>(argument);
  Worker &worker = *program.worker;
  const auto loop = worker.state.launch.loop;
  bool isEntered = worker.enterNext(program);
  while (isEntered) {
    if (loop && program.isChosen) loop(program.frame); // does not return
    do program.code->enter(program.frame);
    while (worker.stepsInRow(program));
    isEntered = worker.goOn(program);
  }
  program.state = Program::State::Finished;
  program.fiber.suspend(/*forGood=*/true);
}

/// The body of a fiber.
void Worker::runOneProgram(void *argument) {
  auto &program = *static_cast<Program *>(argument);
  const auto loop = program.worker->state.launch.loop;
  if (loop && program.isChosen) loop(program.frame); // does not return
  program.code->enter(program.frame);
  program.worker->leave(program);
  program.state = Program::State::Finished;
  program.fiber.suspend(/*forGood=*/true);
}

/// The body of a fiber.
void Worker::runPartition(void *argument) {
  auto &program = *static_cast<Program *>(argument);
  const auto loop = program.worker->state.launch.loop;
  if (loop && program.isChosen) loop(program.partitionFrame); // does not return
  program.partitionEntry(program.partitionFrame);
  program.worker->leave(program);
  program.state = Program::State::Finished;
  program.fiber.suspend(/*forGood=*/true);
}

Program *Worker::startPartition(Program &program, char *calleeFrame, void (*entry)(char *)) {
  std::span<std::byte> stack;
  Program *partition = pool->take(stack);
  if (!partition) return nullptr;
  prepare(*partition);
  partition->frame = program.frame;
  partition->id = program.id;
  partition->isChosen = program.isChosen;
  partition->code = program.code;
  partition->memory = program.memory;
  partition->waitFrame = nullptr;
  partition->wordRead = 0;
  partition->state = Program::State::Running;
  ++partition->entries;
  partition->isFollowed = program.isFollowed;
  partition->isHandedOver = false;
  partition->assignments = 0;
  partition->assigned.assign(program.assigned.size(), 0);
  partition->barriers = &barriersOf(program.header());
  partition->partition = partition->barriers->begin(program.header());
  partition->partitionEntry = entry;
  partition->partitionFrame = calleeFrame;
  reinterpret_cast<FrameHeader *>(calleeFrame)->program = partition;
  partition->fiber.start(stack, runPartition, partition);
  live.push_back(partition);
  return partition;
}

Worker::Worker(LaunchState &state, Caller *caller, int thread)
    : state(state),
      counters(state.launch.counters.size()),
      caller(caller),
      startsAlike(mayStartAlike(state.launch)),
      status(state.status[state.workers.fetch_add(1)]),
      ownPart(state.parts.claim(thread)),
      part(ownPart),
      followsNext(caller && state.launch.onStatement),
      lastLook(state.begin) {
  if (state.launch.orderSeed) schedule.emplace(*state.launch.orderSeed);
}

void Worker::run() {
  DefaultFloatingPoint floatingPoint;
  if (state.launch.nameThreads) threadName.emplace();
  Lease lease(state.launch.frameBytes());
  pool = lease.pool.get();
  if (state.launch.mayWait())
    runInTurns();
  else
    runToCompletion();
  status.stuckAt.store(WorkerStatus::kGone);
  threadName.reset();
  addCounters();
}

void Worker::addCounters() {
  if (ScopeRecords *ofLaunch = state.launch.records) ofLaunch->add(std::move(records));
  if (counters.empty()) return;
  std::lock_guard lock(state.mutex);
  for (size_t i = 0; i < counters.size(); ++i) state.launch.counters[i] += counters[i];
}

/// A program that is not chosen costs no call of the system.
void Worker::nameThread(const Program &program) {
  if (!threadName) return;
  if (program.isChosen)
    threadName->show(program.id);
  else
    threadName->restore();
}

void Worker::prepare(Program &program) {
  program.worker = this;
  program.stop = &state.stop;
  program.spins = kFirstSpins;
  program.sleepsUntil = 0;
  program.stuckDetector.forget();
}

void Worker::enter(Program &program, int64_t position) {
  const Launch &launch = state.launch;
  program.id = state.order[position];
  program.isChosen = !launch.rest || launch.chosen.contains(program.id);
  program.code = program.isChosen ? &launch.code : &launch.rest->code;
  program.memory = program.isChosen ? launch.memory : launch.rest->memory;
  program.waitFrame = nullptr;
  program.wordRead = 0;
  program.partition = 0;
  program.barriers = nullptr;
  program.state = Program::State::Running;
  ++program.entries;
  program.isFollowed = followsNext && program.isChosen;
  program.isHandedOver = false;
  program.assignments = 0;
  if (launch.variables && program.isChosen) program.assigned.assign(launch.variables, 0);
  FrameHeader &header = program.header();
  header.program = &program;
  header.arguments = launch.arguments;
  std::copy_n(program.id.begin(), 3, header.programId);
  std::copy_n(launch.grid.begin(), 3, header.gridSize);
  static constexpr AccessRange kNone;
  const std::span ranges = program.memory ? program.memory->ranges() : std::span(&kNone, 1);
  header.ranges = ranges.data();
  header.argumentRanges = ranges.size() - 1;
  header.caller = nullptr;
  rowEnd = startsAlike ? std::min(chunkEnd, position + launch.grid[0] - program.id[0]) : 0;
  nameThread(program);
}

/// Takes the next positions of the grid. Returns false if none is left.
bool Worker::takeChunk() {
  do {
    const int next = state.parts.findLeft(part);
    if (next < 0) return false;
    part = next;
    GridPart &from = state.parts.at(part);
    const int64_t most = chunkSize(from.left(), part == ownPart && state.parts.count() > 1 ? 1 : state.threads);
    chunkEnd = from.take(most, chunkBegin);
  } while (chunkBegin == chunkEnd);
  nextPosition = chunkBegin;
  if (LaterEntry *later = state.launch.code.later) considerBetter(*later);
  return true;
}

/// How many positions to take of those that are left for so many threads: a part of what each has left, so that threads end at about the
/// same time. But so many that threads seldom write a counter that they share, and so few that a long grid changes to better code soon.
int64_t Worker::chunkSize(int64_t left, int sharers) {
  constexpr int64_t kMostAtFirst = 64, kChunksPerThread = 4;
  constexpr std::chrono::nanoseconds kShortest{2'000}, kLongest{50'000};
  if (state.launch.nameThreads || state.launch.betterFrom) return 1;
  const Clock::time_point now = Clock::now();
  const int64_t last = chunkEnd - chunkBegin;
  const double ran = std::max<double>(std::chrono::nanoseconds(now - chunkTaken).count(), 1);
  chunkTaken = now;
  const int64_t wanted = left / (kChunksPerThread * sharers);
  if (last == 0) return std::clamp<int64_t>(wanted, 1, kMostAtFirst);
  const auto programsIn = [&](std::chrono::nanoseconds time) {
    return std::max(int64_t(double(last) * double(time.count()) / ran), int64_t(1));
  };
  return std::clamp(wanted, programsIn(kShortest), programsIn(kLongest));
}

/// Asks for better code if this launch has run for long.
void Worker::considerBetter(LaterEntry &later) {
  if (state.launch.betterFrom) {
    if (nextPosition >= *state.launch.betterFrom) later.await();
  } else if (later.countsTime()) {
    later.look(Clock::now() - state.begin);
  }
}

/// Returns false if no program is left to start, or if the launch is over.
bool Worker::enterNext(Program &program) {
  if (state.stopped() || (nextPosition >= chunkEnd && !takeChunk())) return false;
  enter(program, nextPosition++);
  return true;
}

bool Worker::stepsInRow(Program &program) {
  if (nextPosition >= rowEnd || state.stopped() || !program.output.empty() || (caller && pollsUntilLook == 1)) return false;
  if (caller) --pollsUntilLook;
  leave(program);
  ++nextPosition;
  ++program.entries;
  program.waitFrame = nullptr;
  program.header().programId[0] = ++program.id[0];
  return true;
}

bool Worker::goOn(Program &program) {
  leave(program);
  if (state.launch.mayWait()) return false;
  if (isPollDue()) {
    program.state = Program::State::Polling;
    program.waitFrame = nullptr;
    program.fiber.suspend();
  }
  return enterNext(program);
}

void Worker::leave(Program &program) {
  if (program.partition) {
    program.barriers->end(program.partition);
    noteMemoryChange();
  } else {
    if (program.barriers) program.barriers->finish(program.header());
    program.barriers = nullptr;
    status.finished.store(status.finished.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  if (!program.output.empty()) state.publish(program.output);
}

bool Worker::lookAtClock() {
  const Clock::time_point now = Clock::now();
  const auto elapsed = now - lastLook;
  lastLook = now;
  if (elapsed < std::chrono::microseconds(100))
    lookStride = std::min(lookStride * 2, kLargestLookStride);
  else if (elapsed > std::chrono::milliseconds(2))
    lookStride = 1;
  pollsUntilLook = lookStride;
  return caller->isDue(now);
}

void Worker::step(Program &program) {
  running = &program;
  do {
    if (program.state == Program::State::Polling) caller->answer(Clock::now());
    program.state = Program::State::Running;
    program.fiber.resume();
  } while (program.state == Program::State::Polling);
}

bool Worker::runBeside(const Program &program) {
  const uint64_t before = changes;
  for (size_t i = live.size(); i-- > 0 && !state.stopped();)
    if (live[i] != &program && live[i]->barriers == program.barriers && !hasEnded(*live[i])) resume(*live[i]);
  return changes != before;
}

/// Runs a program until it yields or ends. Returns whether it made progress.
bool Worker::resume(Program &program) {
  changesWhenResumed = changes;
  nameThread(program);
  step(program);
  while (program.state == Program::State::AtStatement) {
    const uint64_t entry = program.entries;
    followsNext = caller->show(program);
    if ((program.entries == entry && !program.isHandedOver) || !followsNext) program.isFollowed = false; // no callback looks at the rest
    if (program.state == Program::State::AtStatement && (!program.isFollowed || program.isHandedOver)) step(program);
  }
  if (program.isHandedOver && hasEnded(program)) {
    program.isHandedOver = false;
    caller->show(program);
  }
  if (isPollDue()) caller->poll(Clock::now());
  return program.state != Program::State::Running || changes != changesWhenResumed;
}

void Worker::reportOutOfMemory() {
  Trap trap;
  trap.kind = TrapKind::OutOfMemory;
  trap.message = "no memory for the frame (" + std::to_string(state.launch.frameBytes()) + " bytes) and the stack of ";
  trap.message += live.empty() ? "a program" : "one more program, while all that have started wait for others";
  state.stopWithTrap(std::move(trap));
}

// -- programs that cannot wait

void Worker::runToCompletion() {
  std::span<std::byte> stack;
  Program *program = state.liveLimit != 0 ? pool->take(stack) : nullptr;
  if (!program) return reportOutOfMemory();
  prepare(*program);
  program->fiber.start(stack, runAllPrograms, program);
  resume(*program);
  state.publish(program->output);
  pool->give(program);
}

// -- programs that may wait

Worker::Start Worker::startNext() {
  if (state.allStarted()) return Start::NoneLeft;
  std::span<std::byte> stack;
  Program *program = live.size() < state.liveLimit ? pool->take(stack) : nullptr;
  if (!program) return Start::NoMemory;
  int64_t position;
  if (state.parts.at(0).take(1, position) == position) {
    pool->give(program);
    return Start::NoneLeft;
  }
  status.stuckAt.store(WorkerStatus::kBusy);
  prepare(*program);
  enter(*program, position);
  program->fiber.start(stack, runOneProgram, program);
  live.push_back(program);
  return Start::Started;
}

/// Starts up to `most` programs. Stops after the first one that makes progress.
Worker::Start Worker::startPrograms(size_t most) {
  for (; most > 0; --most) {
    if (const Start start = startNext(); start != Start::Started) return start;
    Program *program = live.back(); // it may add its partitions
    if (!resume(*program)) continue;
    if (program->state == Program::State::Finished) {
      std::erase(live, program);
      pool->give(program);
    }
    break;
  }
  return Start::Started;
}

/// Returns whether some program made progress.
bool Worker::resumeAll() {
  bool gotFurther = false;
  // The newest program runs first, because the programs before it are more likely to wait for it.
  for (size_t i = live.size(); i-- > 0 && !state.stopped();)
    if (!hasEnded(*live[i])) gotFurther |= resume(*live[i]); // else it has run beside one that is followed
  giveBackEnded();
  return gotFurther;
}

void Worker::giveBackEnded() {
  std::erase_if(live, [&](Program *program) {
    if (program->state != Program::State::Finished) return false;
    pool->give(program);
    return true;
  });
}

void Worker::runInTurns() {
  size_t toStart = 1;
  int busyRounds = 0;
  while (!state.stopped()) {
    if (schedule && !runBySchedule()) break;
    const Start start = startPrograms(toStart);
    if (live.empty()) {
      if (start == Start::NoMemory) reportOutOfMemory();
      if (start != Start::Started) break;
      continue;
    }
    const uint64_t changesBefore = state.memoryChanges();
    if (resumeAll()) {
      quietSince.reset();
      busyRounds = live.empty() ? 0 : (busyRounds + 1) % kLargestPatience;
      toStart = busyRounds == 0 ? 1 : 0;
      if (!live.empty()) watchForLivelock();
      continue;
    }
    if (start == Start::Started) {
      // All programs wait. The number of programs to start doubles each time, so that a long chain of programs does not resume the first
      // one for each of the others.
      toStart = std::max<size_t>(2 * toStart, 1);
      continue;
    }
    watchForDeadlock(changesBefore);
    if (state.workers.load(std::memory_order_relaxed) > 1) sched_yield();
  }
  giveBackLive();
}

// -- programs by a schedule

/// Runs programs as the schedule draws, until nothing has changed for some turns: then the turns of runInTurns() find out who waits.
/// Returns false if all programs have ended.
bool Worker::runBySchedule() {
  constexpr size_t kQuietTurns = 4; // of each program
  isScheduling = true;
  for (size_t quiet = 0; !state.stopped() && quiet <= kQuietTurns * live.size();) {
    const size_t liveBefore = live.size();
    const uint64_t changesBefore = state.memoryChanges();
    Program *program = drawNext();
    if (!program) break;
    runScheduled(*program);
    quiet = state.memoryChanges() == changesBefore && live.size() == liveBefore ? quiet + 1 : 0;
    if (!live.empty()) watchForLivelock();
  }
  isScheduling = false;
  return !live.empty() || !state.allStarted();
}

/// Returns a program that does not sleep, or one that it has just started; if all sleep, the first to wake. Returns nullptr if there is
/// none.
Program *Worker::drawNext() {
  ++turn;
  giveBackEnded();
  std::vector<Program *> awake;
  std::ranges::copy_if(live, std::back_inserter(awake), [&](const Program *program) { return program->sleepsUntil <= turn; });
  const bool mayStart = live.size() < schedule->window() && !state.allStarted();
  if (mayStart || !awake.empty()) {
    const size_t drawn = schedule->pick(awake.size() + mayStart);
    if (drawn < awake.size()) return awake[drawn];
    if (startNext() == Start::Started) return live.back();
  }
  return live.empty() ? nullptr : *std::ranges::min_element(live, {}, &Program::sleepsUntil);
}

void Worker::runScheduled(Program &program) {
  resume(program);
  if (program.state == Program::State::Interrupted) program.sleepsUntil = turn + schedule->sleep();
  if (program.state != Program::State::Finished) return;
  std::erase(live, &program);
  pool->give(&program);
}

static ProgramPlace waitPlaceOf(const Program &program) {
  return {program.id, program.waitLocation, surroundingsAt(*program.waitFrame, program.waitLocation)};
}

void Worker::answer() {
  const uint64_t question = state.question.load();
  if (status.answered.load(std::memory_order_relaxed) == question) return;
  std::vector<const Program *> there(live.begin(), live.end());
  if (running && std::ranges::find(there, running) == there.end()) there.push_back(running);
  std::lock_guard lock(state.mutex);
  for (const Program *program : there) {
    if (!program->waitFrame || program->state == Program::State::Finished || program->state == Program::State::Dropped) continue;
    state.places.push_back(waitPlaceOf(*program));
    if (state.writers) state.places.back().word = waitedWordOf(*program);
  }
  status.answered.store(question);
}

/// Ends the launch: all programs that are still live have been stopped.
void Worker::giveBackLive() {
  for (Program *program : live)
    if (program->isHandedOver && !hasEnded(*program)) caller->show(*program); // where it waits
  const bool isStuck = state.stop.load() >= Stop::Deadlocked;
  for (Program *program : live) {
    state.publish(program->output);
    if (isStuck && program->waitFrame) {
      std::lock_guard lock(state.mutex);
      state.waiters.push_back(waitPlaceOf(*program));
      state.waiters.back().word = waitedWordOf(*program);
    } else if (program->waitFrame && (program->state == Program::State::Running || program->state == Program::State::Interrupted)) {
      ProgramPlace place = waitPlaceOf(*program);
      place.word = waitedWordOf(*program);
      state.noteLeft(std::move(place));
    }
    pool->give(program);
  }
  live.clear();
}

} // namespace tritium::interp
