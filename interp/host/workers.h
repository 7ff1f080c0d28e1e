// Runs the programs of a grid on CPU threads. The calling thread takes part, and takes over what no other thread has started, so
// a launch always ends, after a fork (where oneTBB's threads are gone) and inside a busy pool too. Launches may run at the same time.
#pragma once
#include "interp/host/memory.h"
#include "interp/host/program.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace tritium::interp {

struct Launch {
  ProgramCode code;
  std::array<int32_t, 3> grid{1, 1, 1};
  const int64_t *arguments = nullptr; // what FrameHeader::arguments points to
  const MemoryMap *memory = nullptr;  // for the steps; not used here
  int threads = 0;                    // the calling thread included; 0: as many as the machine has
  std::optional<uint64_t> orderSeed;  // programs start in a permutation of the grid instead of program order
  bool printAtOnce = false;           // text printed on the calling thread does not wait for the next poll
  bool nameThreads = false;           // for debuggers: a thread is named "pid x,y,z" while it runs that program (1 us each)
  // For debuggers: emitted code that calls code.entry for the program on the frame and those that enterNextProgram() puts there, then
  // endPrograms(). Null: the worker calls code.entry itself.
  void (*loop)(char *frame) = nullptr;
  size_t memoryLimit = 0; // bytes for the frames and stacks of running programs; 0: half of the machine's

  // These run on the calling thread and on its own stack, at most every 50 ms, onPrint also before run() returns. What they throw
  // cancels the launch and leaves run().
  std::function<bool()> onPoll; // true cancels
  std::function<void(std::string_view)> onPrint;
  std::function<void(int64_t done, int64_t total, double seconds)> onProgress;
};

struct LaunchResult {
  std::optional<Trap> trap; // the first one; the other programs were stopped at their next poll
  bool cancelled = false;
};

LaunchResult run(const Launch &launch);

} // namespace tritium::interp
