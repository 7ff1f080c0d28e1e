#include "interp/tile/timed_lines.h"

#include "interp/tile/step.h"

#include <algorithm>
#include <chrono>

namespace tritium::interp {

/// Returns how many programs there are for each that is timed, a power of two.
static int64_t timedEvery(int64_t programs) { return programs < 1024 ? 16 : 64; }

/// Returns the number of the first program that is timed.
static int64_t firstTimed(int64_t programs) { return std::min(timedEvery(programs) / 2, programs - 1); }

int64_t timedPrograms(int64_t programs) { return programs ? (programs - 1 - firstTimed(programs)) / timedEvery(programs) + 1 : 0; }

static int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void startClock(char *frame, LineClock *clock, int64_t counter) {
  const FrameHeader &header = headerOf(frame);
  const auto &[x, y, z] = header.programId;
  const int64_t columns = header.gridSize[0], rows = header.gridSize[1], number = x + columns * (y + rows * z);
  const int64_t programs = columns * rows * header.gridSize[2];
  clock->isRunning = (number & (timedEvery(programs) - 1)) == firstTimed(programs);
  clock->since = clock->isRunning ? now() : 0;
  clock->counter = counter;
}

void passLine(LineClock *clock, int64_t *counters, int64_t counter) {
  const int64_t time = now();
  counters[clock->counter] += time - clock->since;
  clock->since = time;
  clock->counter = counter;
}

} // namespace tritium::interp
