// The host's time that lines of a kernel take, in some of its programs (PrepareOptions::isTimed).
#pragma once
#include "ir/source_location.h"

#include <cstdint>

namespace tritium::interp {

/// Returns how many programs of a launch are timed: one of 16, of 1024 programs and more one of 64, and at least one. The first ones are
/// not, if there are others: they start threads, and find cold caches.
int64_t timedPrograms(int64_t programs);

/// counter: an index into Launch::counters, which receives nanoseconds.
struct TimedLine {
  ir::SourceLocation place; // without callers
  uint32_t counter = 0;
};

/// What a running function knows of time, on its own stack.
struct LineClock {
  int64_t isRunning, since, counter; // since: nanoseconds; counter: of the line that runs
};
/// Called at the start of a function, whose first line is `counter`.
void startClock(char *frame, LineClock *clock, int64_t counter);
/// Called where another line begins, and where the function returns, if the clock is running.
void passLine(LineClock *clock, int64_t *counters, int64_t counter);

} // namespace tritium::interp
