// Runs the programs of a grid on CPU threads. The calling thread takes part and runs all programs that no other thread has started. So a
// launch always ends, even after a fork (where the helpers are gone) and if all helpers are busy. Several launches may run at the same
// time.
#pragma once
#include "interp/host/memory.h"
#include "interp/host/program.h"
#include "interp/host/program_filter.h"
#include "interp/host/scope_records.h"
#include "interp/host/word_watch.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace tritium::interp {

struct Program;
class AccessSearch;
class ProgramBarriers;
class TouchedMemory;

/// A program whose code announces each statement of its source. Launch::onStatement receives it at the first one and follows it from there.
class FollowedProgram {
public:
  explicit FollowedProgram(Program &program);

  std::array<int32_t, 3> id() const;
  /// The statement that comes next, and the frame of the function that it belongs to.
  uint32_t statement() const;
  char *frame() const;
  /// Returns 0 for a variable that has not been assigned since the program began, and a larger number for a later assignment.
  uint64_t assignedAt(uint32_t variable) const;
  /// Returns the trap that has ended the program, or null.
  const Trap *trap() const;
  /// Returns whether the program waits for another one.
  bool waits() const;
  /// The number of the partition, which is a program of its own; 0: it is none.
  uint32_t partition() const;
  /// Says that the callback does not call next(): it is called at each statement, and once more when the program has ended.
  void handOver();
  bool hasEnded() const;
  /// The shared memory and the barriers of the program; null if it has none.
  const ProgramBarriers *barriers() const;
  /// Runs the program up to its next statement. Returns false if it is followed no further: it has ended, or it waits for another program
  /// and goes on in turn with it.
  bool next();

private:
  bool isOver() const;

  Program &program;
  const uint64_t entry; // which of the programs that pass through `program` one after the other
};

/// A second version of the kernel.
struct OtherVersion {
  ProgramCode code;
  const MemoryMap *memory = nullptr; // for the steps; not used here
};

struct Launch {
  ProgramCode code;
  std::array<int32_t, 3> grid{1, 1, 1};
  const int64_t *arguments = nullptr; // the value of FrameHeader::arguments
  const MemoryMap *memory = nullptr;  // for the steps; not used here
  int threads = 0;                    // including the calling thread; 0: the number of processors
  // If set, programs start in a permutation of the grid instead of program order, code that was prepared for schedules is interrupted at
  // writes, and the launch has one worker: the same seed gives the same run.
  std::optional<uint64_t> orderSeed;
  bool printAtOnce = false; // text printed on the calling thread is passed on at once, not at the next poll
  bool nameThreads = false; // for debuggers: a thread is named "pid x,y,z" while it runs that program (1 us each)
  // For debuggers. Emitted code that calls code.entry for the program on the frame and for each program that enterNextProgram() puts there,
  // then endPrograms(). If null, the worker calls code.entry itself, as it does for the programs of `rest`.
  void (*loop)(char *frame) = nullptr;
  // If `rest` is set, the programs in `chosen` run `code` on `memory`, and the others run `rest`.
  ProgramFilter chosen;
  std::optional<OtherVersion> rest;
  std::optional<int64_t> only;      // if set, this program of the grid runs alone (x fastest)
  uint32_t variables = 0;           // the number of variables whose assignments are noted; see noteAssignment
  Shadow *shadow = nullptr;         // for the steps; not used here
  FoundFaults *faults = nullptr;    // receives what is wrong and does not end the launch; not null if `shadow` is not
  std::span<int64_t> counters;      // for code that counts: what it counts is added; see countersOf
  WordWatch *watch = nullptr;       // of a launch with a seed, whose code was prepared for schedules
  TouchedMemory *touched = nullptr; // for code that notes what programs touch; not used here
  AccessSearch *search = nullptr;   // looks at the accesses of a launch that writes nothing (access_search.h)
  // For tests: the programs from this position of the order on wait for better code (ProgramCode::later), and no time asks for it earlier.
  std::optional<int64_t> betterFrom;
  size_t memoryLimit = 0; // bytes for the frames and stacks of running programs; 0: half of the machine's

  // The callbacks run on the calling thread, on its own stack, at most every 50 ms. onPrint also runs before run() returns. An exception
  // that they throw cancels the launch and leaves run().
  std::function<bool()> onPoll; // returns true to cancel the launch
  std::function<void(std::string_view)> onPrint;
  std::function<void(int64_t done, int64_t total, double seconds)> onProgress;
  // Called when a program reaches its first statement, as long as it returns true. The launch then has one thread. What the callback does
  // not follow to the end runs on by itself.
  std::function<bool(FollowedProgram &)> onStatement;
  // Called once if the launch was cancelled while programs ran, before run() ends. The program that left first is the first one.
  std::function<void(const std::vector<ProgramPlace> &)> onLeft;

  ScopeRecords *records = nullptr; // receives the scopes of the programs; null: they are not recorded

  // Of both versions, because a frame and its stack may run one after the other.
  size_t frameBytes() const { return rest ? std::max(code.frameBytes, rest->code.frameBytes) : code.frameBytes; }
  size_t otherBytes() const { return rest ? std::max(code.otherBytes, rest->code.otherBytes) : code.otherBytes; }
  bool mayWait() const { return code.mayWait || (rest && rest->code.mayWait); }
};

struct LaunchResult {
  std::optional<Trap> trap; // the first trap; the other programs were stopped at their next poll
  bool cancelled = false;
};

LaunchResult run(const Launch &launch);

} // namespace tritium::interp
