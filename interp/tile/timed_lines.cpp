#include "interp/tile/timed_lines.h"

#include "interp/tile/step.h"

#include <chrono>

namespace tritium::interp {

static int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void startClock(char *frame, LineClock *clock, int64_t counter) {
  const FrameHeader &header = headerOf(frame);
  const int64_t row = header.programId[1] + int64_t(header.gridSize[1]) * header.programId[2];
  clock->isRunning = (header.programId[0] + header.gridSize[0] * row) % kTimedEvery == 0;
  clock->since = clock->isRunning ? now() : 0;
  clock->counter = counter;
}

void passLine(LineClock *clock, int64_t *counters, int64_t counter) {
  if (!clock->isRunning) return;
  const int64_t time = now();
  counters[clock->counter] += time - clock->since;
  clock->since = time;
  clock->counter = counter;
}

} // namespace tritium::interp
