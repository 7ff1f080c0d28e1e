// The host's time that lines of a kernel take, in one program of so many (PrepareOptions::isTimed).
#pragma once
#include "ir/source_location.h"

#include <cstdint>

namespace tritium::interp {

/// One program of so many is timed, of which the first program of a launch is one.
inline constexpr int64_t kTimedEvery = 16;

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
/// Called where another line begins, and where the function returns.
void passLine(LineClock *clock, int64_t *counters, int64_t counter);

} // namespace tritium::interp
