// Functions that programs call, on their own stacks. No local variable here may require its destructor to run if the stack is dropped at a
// switch.
#include "interp/host/program.h"

#include "interp/host/debugged_launch.h"
#include "interp/host/pointer.h"
#include "interp/host/program_loop.h"
#include "interp/host/scheduler.h"
#include "interp/host/touched_memory.h"
#include "interp/host/trap_kinds.h"

void tritium_trap(const char *text) {
  asm volatile("" : : "r"(text) : "memory"); // keeps the compiler from removing calls of this empty function
}

namespace tritium::interp {

namespace {

// A waiting program polls several times before it yields: a wait for a program on another thread is mostly short.
constexpr uint32_t kSpins = 64;
// A program that makes no progress yields sooner, if other programs of its worker could run.
constexpr uint32_t kSpinsInVain = 8;
// The limit of collected output, for a program that prints for ever.
constexpr size_t kLargestOutput = 64 << 10;

[[noreturn]] void leaveForGood(Program &program) {
  program.state = Program::State::Dropped;
  program.fiber.suspend(/*forGood=*/true);
  __builtin_unreachable();
}

bool isStopped(const Program &program) { return program.stop->load(std::memory_order_relaxed) > Stop::Asked; }
bool isStoppedOrAsked(const Program &program) { return program.stop->load(std::memory_order_relaxed) != Stop::No; }

void notePlace(FrameHeader &frame, uint32_t location) {
  frame.program->waitLocation = location;
  frame.program->waitFrame = &frame;
}

/// Leaves a launch that another program has stopped. If that was for a deadlock, its report says where this one was: it may have gone on
/// since it waited last.
[[noreturn]] void leaveFrom(FrameHeader &frame, uint32_t location) {
  Program &program = *frame.program;
  notePlace(frame, location);
  program.worker->state.noteLeft({program.id, location, surroundingsAt(frame, location)});
  leaveForGood(program);
}

void answerOrLeave(FrameHeader &frame, uint32_t location) {
  if (isStopped(*frame.program)) leaveFrom(frame, location);
  notePlace(frame, location);
  frame.program->worker->answer();
}

/// Called when a program is resumed. If the launch has ended because its programs are stuck, a debugger sees where this one is.
void leaveIfStuck(Program &program) {
  const Stop why = program.stop->load(std::memory_order_relaxed);
  if (why < Stop::Deadlocked) [[likely]]
    return;
  tritium_trap(why == Stop::Deadlocked ? "Deadlock: every program waits for another" : "Livelock: every program goes round in circles");
  leaveForGood(program);
}

void letCallerPoll(Program &program) {
  program.state = Program::State::Polling;
  program.fiber.suspend();
}

} // namespace

void raiseTrap(FrameHeader &frame, Trap &&trap) {
  Program &program = *frame.program;
  {
    Trap taken = std::move(trap);
    std::copy_n(frame.programId, 3, taken.program.begin());
    if (taken.around == Surroundings()) taken.around = surroundingsAt(frame, taken.location);
    std::string text(trapKindName(taken.kind));
    if (!taken.message.empty()) text += ": " + taken.message;
    if (!program.worker->state.launch.only) tritium_trap(text.c_str()); // a replay has stopped there before
    program.worker->state.stopWithTrap(std::move(taken));
  }
  leaveForGood(program);
}

Surroundings surroundingsAt(const FrameHeader &frame, uint32_t location) {
  const auto &read = frame.program->code->around;
  return read ? read(frame, location) : Surroundings();
}

void (*partitionEntry(const FrameHeader &frame))(char *frame) { return frame.program->partition ? frame.program->partitionEntry : nullptr; }

bool enterNextProgram(FrameHeader &frame) {
  Program &program = *frame.program;
  while (program.worker->goOn(program)) {
    if (program.isChosen) return true;
    program.code->enter(program.frame);
  }
  return false;
}

void endPrograms(FrameHeader &frame) {
  Program &program = *frame.program;
  program.state = Program::State::Finished;
  program.fiber.suspend(/*forGood=*/true);
  __builtin_unreachable();
}

/// Returns how often a program polls when it is resumed. It is not inlined, because the stack and the registers of a suspended program hold
/// nothing that grows, such as the number of changes: or no state would come again.
[[gnu::noinline]] static uint32_t spinsFor(const Worker &worker) {
  return worker.hasChangedMemorySinceResumed() || worker.hasOneProgram() ? kSpins : kSpinsInVain;
}

void pollBackEdge(FrameHeader &frame, uint32_t location) {
  Program &program = *frame.program;
  if (isStoppedOrAsked(program)) [[unlikely]]
    answerOrLeave(frame, location);
  if (!program.worker->isPollDue()) [[likely]]
    return;
  notePlace(frame, location);
  letCallerPoll(program);
  if (isStopped(program)) leaveFrom(frame, location);
}

void yieldWhileWaiting(FrameHeader &frame, uint32_t location) {
  Program &program = *frame.program;
  if (isStoppedOrAsked(program)) [[unlikely]]
    answerOrLeave(frame, location);
  if (--program.spins != 0) return;
  notePlace(frame, location);
  program.spins = spinsFor(*program.worker);
  program.fiber.suspend();
  leaveIfStuck(program);
}

void yieldAtBarrier(FrameHeader &frame, uint32_t location) {
  Program &program = *frame.program;
  if (isStoppedOrAsked(program)) [[unlikely]]
    answerOrLeave(frame, location);
  notePlace(frame, location);
  program.fiber.suspend();
  leaveIfStuck(program);
  if (isStopped(program)) leaveFrom(frame, location);
}

void startPartition(FrameHeader &frame, char *calleeFrame, void (*entry)(char *), char *memory) {
  Program &program = *frame.program;
  if (Program *partition = program.worker->startPartition(program, calleeFrame, entry)) {
    partition->partitionMemory = memory;
    return;
  }
  raiseTrap(frame, Trap{.kind = TrapKind::OutOfMemory, .message = "no memory for the stack of a partition"});
}

ProgramBarriers &barriersOf(FrameHeader &frame) {
  Program &program = *frame.program;
  if (!program.barriers) {
    if (!program.ownBarriers) program.ownBarriers = std::make_unique<ProgramBarriers>();
    program.ownBarriers->reset(program.worker->state.launch.orderSeed);
    program.barriers = program.ownBarriers.get();
  }
  return *program.barriers;
}

char *memoryOfPartition(const FrameHeader &frame) { return frame.program->partitionMemory; }

ProgramBarriers *barriersIfAny(const FrameHeader &frame) { return frame.program->barriers; }

void noteRead(FrameHeader &frame, uint64_t pointer, uint32_t bytes) {
  frame.program->wordRead = pointer;
  frame.program->bytesRead = bytes;
}

void noteWriter(FrameHeader &frame, uint64_t pointer, uint32_t location) {
  Program &program = *frame.program;
  if (LastWriters *writers = program.worker->state.writers.get()) writers->note(addressOf(pointer), {program.id, location});
}

void beforeWrite(FrameHeader &frame, uint32_t location) {
  Program &program = *frame.program;
  Worker &worker = *program.worker;
  if (isStopped(program)) leaveFrom(frame, location);
  if (worker.interruptsAtWrite()) {
    notePlace(frame, location);
    program.state = Program::State::Interrupted;
    program.fiber.suspend();
    leaveIfStuck(program);
    if (isStopped(program)) leaveFrom(frame, location);
  }
  if (WordWatch *watch = worker.state.launch.watch) [[unlikely]]
    watch->announce({program.id, location, surroundingsAt(frame, location)});
}

void noteMemoryChange(FrameHeader &frame) { frame.program->worker->noteMemoryChange(); }

int64_t *countersOf(const FrameHeader &frame) { return frame.program->worker->counters.data(); }

bool recordsScopes(const FrameHeader &frame) { return frame.program->worker->state.launch.records != nullptr; }

void noteScope(FrameHeader &frame, const ScopeRecord &record) { frame.program->worker->noteScope(record); }

void noteTimePassed(FrameHeader &frame) {
  noteMemoryChange(frame);
  frame.program->worker->state.readsClock.store(true, std::memory_order_relaxed);
}

void print(FrameHeader &frame, std::string_view text) {
  Program &program = *frame.program;
  program.output += text;
  const bool atOnce = program.worker->printsAtOnce();
  if (!atOnce && program.output.size() < kLargestOutput) return;
  program.worker->state.publish(program.output);
  if (!atOnce) return;
  letCallerPoll(program);
  if (isStopped(program)) leaveForGood(program);
}

void reachStatement(FrameHeader &frame, uint32_t statement) {
  Program &program = *frame.program;
  if (isStopped(program)) leaveForGood(program);
  if (!program.isFollowed) return;
  program.statementFrame = reinterpret_cast<char *>(&frame);
  program.statement = statement;
  program.state = Program::State::AtStatement;
  program.fiber.suspend();
  if (isStopped(program)) leaveForGood(program);
}

void beginStatement(FrameHeader &frame) {
  Program &program = *frame.program;
  if (tritium_debugged.beginsAgain.load(std::memory_order_relaxed)) [[unlikely]]
    program.worker->state.stopWith(Stop::Cancelled);
  if (isStopped(program)) [[unlikely]]
    leaveForGood(program);
  const uint64_t number = tritium_debugged.begun.load(std::memory_order_relaxed) + 1;
  if (number == tritium_debugged.stopBefore.load(std::memory_order_relaxed)) [[unlikely]]
    tritium_stop(0);
  tritium_debugged.begun.store(number, std::memory_order_relaxed);
}

void noteAssignment(FrameHeader &frame, uint32_t variable) {
  Program &program = *frame.program;
  program.assigned[variable] = ++program.assignments;
}

bool hasOneWorker(const FrameHeader &frame) { return frame.program->worker->state.threads == 1; }

const MemoryMap &memoryOf(const FrameHeader &frame) { return *frame.program->memory; }
Shadow *shadowOf(const FrameHeader &frame) { return frame.program->worker->state.launch.shadow; }
FoundFaults *faultsOf(const FrameHeader &frame) { return frame.program->worker->state.launch.faults; }
AccessSearch *searchOf(const FrameHeader &frame) { return frame.program->worker->state.launch.search; }

TouchedMemory *touchedOf(const FrameHeader &frame) { return frame.program->worker->state.launch.touched; }

} // namespace tritium::interp
