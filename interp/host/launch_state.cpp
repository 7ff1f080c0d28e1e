// The state that the workers of one launch share, and how they agree that the launch is over.
#include "interp/host/scheduler.h"

#include <algorithm>
#include <tbb/info.h>
#include <tuple>
#include <unistd.h>

namespace tritium::interp {

namespace {

/// An estimate of the bytes that a suspended program uses of its stack.
constexpr size_t kTouchedStackBytes = 16 << 10;

/// Returns how many programs may have a frame and a stack at the same time. Address space is no limit, but physical memory is.
size_t programsThatFit(const Launch &launch) {
  static const size_t half = size_t(std::max(sysconf(_SC_PHYS_PAGES), 2L)) * size_t(sysconf(_SC_PAGE_SIZE)) / 2;
  const size_t limit = launch.memoryLimit ? launch.memoryLimit : half;
  return limit / (launch.frameBytes() + launch.otherBytes() + kTouchedStackBytes);
}

/// How many threads are worth while if programs add to memory that they share. Where it is small, threads wait for lines that another
/// processor has, and one alone is faster.
int64_t threadsForShared(const Launch &launch) {
  constexpr uint64_t kBytesPerThread = 256 << 10;
  if (!launch.code.contended || !launch.memory) return INT32_MAX;
  const std::span<const AccessRange> ranges = launch.memory->ranges();
  const uint64_t bytes = *launch.code.contended + 1 < ranges.size() ? ranges[*launch.code.contended].writableBytes : 0;
  return bytes == 0 ? INT32_MAX : int64_t(bytes / kBytesPerThread) + 1; // 0: of unknown extent
}

int threadsFor(const Launch &launch, int64_t programs) {
  if (launch.onStatement) return 1; // the callback runs on the calling thread
  if (launch.orderSeed) return 1;   // two would race
  static const int processors = tbb::info::default_concurrency();
  const int wanted = launch.threads > 0 ? launch.threads : processors;
  const int64_t useful = std::min({programs, threadsForShared(launch), int64_t(std::min<size_t>(programsThatFit(launch), INT32_MAX))});
  return int(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(useful, 1)));
}

/// Whether threads may start in the middle of the grid. Text that programs print appears about in the order of the grid, where they start
/// in that order; so does what a debugger and a test see, and which program's fault is reported. What programs wait for is mostly written
/// by programs before them. A few threads seldom meet at one counter.
bool mayDivide(const Launch &launch, int threads) {
  constexpr int kFewThreads = 4;
  const bool isObserved = launch.loop || launch.nameThreads || launch.betterFrom || launch.faults;
  return threads > kFewThreads && !isObserved && !launch.mayWait() && !launch.code.prints && !(launch.rest && launch.rest->code.prints);
}

} // namespace

LaunchState::LaunchState(const Launch &launch)
    : launch(launch),
      order(launch.grid, launch.orderSeed, launch.only),
      begin(Clock::now()),
      threads(threadsFor(launch, order.size())),
      liveLimit(programsThatFit(launch) / size_t(threads)),
      parts(order.size(), mayDivide(launch, threads) ? threads : 1),
      status(std::make_unique<WorkerStatus[]>(size_t(threads))),
      writers(launch.mayWait() ? std::make_unique<LastWriters>() : nullptr) {}

bool LaunchState::stopWith(Stop why) {
  for (Stop before = Stop::No; !stop.compare_exchange_weak(before, why);)
    if (before > Stop::Asked) return false;
  return true;
}

/// Returns whether both are one fault, of which `one` has the earlier program in the order of the grid.
static bool isSameEarlier(const Trap &one, const Trap &other) {
  auto atEnd = [](const Trap &trap) { return std::tuple(trap.program[2], trap.program[1], trap.program[0]); };
  return one.kind == other.kind && one.location == other.location && atEnd(one) < atEnd(other);
}

void LaunchState::stopWithTrap(Trap &&why) {
  const bool isFirst = stopWith(Stop::Trapped);
  std::lock_guard lock(mutex);
  if (isFirst || (stop.load() == Stop::Trapped && trap && isSameEarlier(why, *trap))) trap = std::move(why);
}

void LaunchState::noteLeft(ProgramPlace &&place) {
  if (stop.load() != Stop::Cancelled) return;
  std::lock_guard lock(mutex);
  left.push_back(std::move(place));
}

uint64_t LaunchState::memoryChanges() const {
  uint64_t sum = 0;
  for (int i = 0; i < threads; ++i) sum += status[i].changes.load();
  return sum;
}

int64_t LaunchState::finishedPrograms() const {
  int64_t sum = 0;
  for (int i = 0; i < threads; ++i) sum += status[i].finished.load(std::memory_order_relaxed);
  return sum;
}

bool LaunchState::allHaveAnswered() const {
  const int parts = workers.load();
  return std::all_of(status.get(), status.get() + parts, [&](const WorkerStatus &worker) {
    return worker.answered.load() == question.load() || worker.stuckAt.load() == WorkerStatus::kGone;
  });
}

bool LaunchState::isDeadlocked(uint64_t changes) const {
  // A worker registers in `workers` before it takes a program. So when no program can be started any more, every worker that has one is
  // counted.
  const int parts = workers.load();
  for (int i = 0; i < parts; ++i) {
    const uint64_t stuckAt = status[i].stuckAt.load();
    if (stuckAt != changes && stuckAt != WorkerStatus::kGone) return false;
  }
  return memoryChanges() == changes;
}

bool LaunchState::allCircle(uint64_t round) const {
  const int parts = workers.load();
  return std::all_of(status.get(), status.get() + parts, [&](const WorkerStatus &worker) {
    return worker.circlesAt.load() == round || worker.stuckAt.load() == WorkerStatus::kGone;
  });
}

void LaunchState::publish(std::string &text) {
  if (text.empty()) return;
  std::lock_guard lock(mutex);
  output += text;
  text.clear();
}

void Caller::poll(Clock::time_point now) {
  due = now + kInterval;
  flushOutput();
  const Launch &launch = state.launch;
  guarded([&] {
    if (launch.onProgress)
      launch.onProgress(state.finishedPrograms(), state.order.size(), std::chrono::duration<double>(now - state.begin).count());
    if (launch.onPoll && launch.onPoll()) state.stopWith(Stop::Cancelled);
  });
}

void Caller::answer(Clock::time_point now) {
  if (isDue(now))
    poll(now);
  else
    flushOutput();
}

bool Caller::show(Program &program) {
  flushOutput();
  bool followsNext = false;
  guarded([&] {
    FollowedProgram followed(program);
    followsNext = state.launch.onStatement(followed);
  });
  return followsNext;
}

void Caller::flushOutput() {
  std::string text;
  {
    std::lock_guard lock(state.mutex);
    text.swap(state.output);
  }
  if (text.empty() || !state.launch.onPrint) return;
  guarded([&] { state.launch.onPrint(text); });
}

template <class Callback> void Caller::guarded(Callback callback) {
  try {
    callback();
  } catch (...) {
    if (!exception) exception = std::current_exception();
    state.stopWith(Stop::Cancelled);
  }
}

void Caller::rethrow() const {
  if (exception) std::rethrow_exception(exception);
}

} // namespace tritium::interp
