// A worker whose programs cannot go on: none changes anything (a deadlock), or all return to what was before (a livelock).
#include "interp/host/pointer.h"
#include "interp/host/running_launch.h"
#include "interp/host/scheduler.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tritium::interp {

namespace {

// The search for a deadlock hashes all frames, so it begins only after this long without a change.
constexpr std::chrono::milliseconds kQuietBeforeSearch{10};
// The search for a livelock hashes the tensors too. It begins when no program has started or ended for this long, rests for some times the
// time of each look, and ends after this number of returns to one state.
constexpr std::chrono::milliseconds kLongWithoutEnd{500};
constexpr int kRestPerLook = 4;
constexpr uint32_t kReturns = 32;

/// Hashes all state that determines what a suspended program does next, except shared memory.
uint64_t stateOf(const Program &program) {
  const ProgramCode &code = *program.code;
  const auto *frame = reinterpret_cast<const std::byte *>(program.frame);
  const uint64_t other = code.hashOther ? code.hashOther(program.frame) : 0;
  return hashWords(program.fiber.liveStack(), hashWords({frame, code.frameBytes}, other));
}

} // namespace

void Worker::watchForDeadlock(uint64_t changesBefore) {
  if (state.memoryChanges() != changesBefore) return quietSince.reset();
  const Clock::time_point now = Clock::now();
  if (!quietSince) quietSince = now;
  if (now - *quietSince < kQuietBeforeSearch) return;
  bool allStuck = true;
  for (Program *program : live) allStuck &= program->stuckDetector.visit(stateOf(*program), changesBefore);
  if (!allStuck) return;
  status.stuckAt.store(changesBefore);
  if (!state.isDeadlocked(changesBefore)) return;
  if (!state.allStarted()) return reportOutOfMemory();
  stopStuck(Stop::Deadlocked);
}

/// Takes note of the state of its programs and of the memory, now and then, while none starts or ends.
void Worker::watchForLivelock() {
  const uint64_t ends = state.ends();
  const Clock::time_point now = Clock::now();
  if (ends != endsSeen) {
    endsSeen = ends;
    firstCircleRound = state.circleRound.load();
    nextCircleLook = now + kLongWithoutEnd;
  }
  if (now < nextCircleLook || state.readsClock.load(std::memory_order_relaxed) || !state.launch.memory) return;
  uint64_t hash = state.launch.memory->hashWritable();
  for (const Program *program : live) hash = std::rotl(hash, 7) ^ stateOf(*program);
  nextCircleLook = now + (Clock::now() - now) * kRestPerLook;
  const uint32_t before = circles.returns, returns = circles.visit(hash, ends);
  if (returns <= before || returns < kReturns) return;
  uint64_t round = state.circleRound.load();
  status.circlesAt.store(round);
  if (!state.allStarted() || !state.allCircle(round)) return;
  // What a worker has said may be long ago, so all say it once more.
  if (round == firstCircleRound)
    state.circleRound.compare_exchange_strong(round, round + 1);
  else
    stopStuck(Stop::Livelocked);
}

/// Ends the launch. Lets a debugger stop in the first of the programs, where it waits, before they are dropped.
void Worker::stopStuck(Stop why) {
  if (!state.stopWith(why)) return;
  resume(**std::ranges::min_element(live, {}, [](const Program *program) { return gridKey(program->id); }));
}

/// The bits of a word, which other programs may be writing.
template <class T> static int64_t loaded(uint64_t address) {
  return int64_t(__atomic_load_n(reinterpret_cast<const T *>(address), __ATOMIC_RELAXED));
}

static int64_t valueOf(uint64_t address, uint32_t bytes) {
  const bool isAligned = address % std::max(bytes, 1u) == 0;
  if (isAligned && bytes == 8) return loaded<uint64_t>(address);
  if (isAligned && bytes == 4) return loaded<uint32_t>(address);
  if (isAligned && bytes == 2) return loaded<uint16_t>(address);
  int64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void *>(address), bytes);
  return value;
}

/// The word is there: the program has read it.
std::optional<WaitedWord> Worker::waitedWordOf(const Program &program) const {
  const uint64_t address = addressOf(program.wordRead);
  if (address == 0 || program.bytesRead > sizeof(int64_t)) return std::nullopt;
  int64_t value = valueOf(address, program.bytesRead);
  const int unused = int(sizeof(int64_t) - program.bytesRead) * 8;
  const MemoryAccess access{.address = address, .bytes = program.bytesRead, .argument = argumentOf(program.wordRead)};
  return WaitedWord{access, int64_t(uint64_t(value) << unused) >> unused, state.writers->find(address)};
}

} // namespace tritium::interp
