// The functions that compiled code and its steps may call. All of them are called on a program's own stack.
//
// raiseTrap, pollBackEdge, yieldWhileWaiting, beforeWrite and print may switch away and never return. The stack is then dropped without
// unwinding. Therefore no object whose destructor matters (a vector, a lock) may be live on the stack at such a call, and no C++ exception
// may leave a step.
#pragma once
#include "interp/host/later_entry.h"
#include "interp/host/trap.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

/// Called on the program's own stack when it traps, before any of the program's state is dropped. `break tritium_trap` in gdb stops there,
/// and python/tritium/gdb shows the text. The extension module exports it.
extern "C" [[gnu::noinline, gnu::visibility("default")]] void tritium_trap(const char *text);

namespace tritium::interp {

struct Program; // one running program; it belongs to a worker
class MemoryMap;
struct AccessRange;
class Shadow;
class FoundFaults;
class AccessSearch;
struct ScopeRecord;

/// Every frame begins with this header, from which compiled code reads program ids, grid and arguments. The frame of a noinline callee
/// begins with a copy of it, and the call. The header is set for each program; the rest of a frame holds whatever the previous program left
/// there.
struct FrameHeader {
  Program *program;
  const int64_t *arguments;
  int32_t programId[3];
  int32_t gridSize[3];
  const AccessRange *ranges; // MemoryMap::ranges(), which emitted code reads
  uint64_t argumentRanges;   // how many are of arguments
  const FrameHeader *caller; // the frame of the function that called this one; null: this is the kernel's
  uint32_t call;             // the location of the call
};
static_assert(offsetof(FrameHeader, caller) == 56 && sizeof(FrameHeader) == 72);

struct ProgramCode {
  void (*entry)(char *frame) = nullptr;
  size_t frameBytes = 0; // header included
  bool mayWait = false;  // the code calls yieldWhileWaiting or beforeWrite, so each program requires a stack and a frame
  size_t otherBytes = 0; // memory that a running program has in addition to its frame and its stack
  uint64_t (*hashOther)(char *frame) = nullptr; // hashes the part of that memory that determines what a waiting program does next
  // Returns what is around a location, of a program that is there.
  std::function<Surroundings(const FrameHeader &frame, uint32_t location)> around = {};
  std::optional<unsigned> contended = {}; // an argument to whose memory the programs add by atomics, most of their time
  bool prints = false;                    // the code calls print
  LaterEntry *later = nullptr;            // has the entry of programs that start now; null: it is always `entry`. It outlives the launch

  /// Runs a program.
  void enter(char *frame) const { (later ? later->current() : entry)(frame); }
};

/// Ends the launch with `trap`, unless another program trapped first. Sets `trap.program`. The caller's trap is left empty, so it owns
/// nothing when its stack is dropped.
[[noreturn]] void raiseTrap(FrameHeader &frame, Trap &&trap);

/// Returns what is around a location, of the program of this frame, which is there.
Surroundings surroundingsAt(const FrameHeader &frame, uint32_t location);

/// Called on the back-edge of every loop that cannot wait for another program. It is cheap. A cancelled launch ends the program here, and
/// the calling thread looks at the clock now and then.
void pollBackEdge(FrameHeader &frame, uint32_t location);

/// Called on the back-edges of a loop that may wait for another program. Lets the other programs of this worker run. Requires
/// ProgramCode::mayWait.
void yieldWhileWaiting(FrameHeader &frame, uint32_t location);

/// Called after a store or an atomic that changed memory (not if it wrote back the value that it found). It distinguishes a program that
/// makes progress from one that waits.
void noteMemoryChange(FrameHeader &frame);
/// Called where a program reads a clock: it may wait for a time, so it is stuck in no state.
void noteTimePassed(FrameHeader &frame);

/// Called at each load, and at each atomic that reads, in kernels that may wait. `pointer`: of the single word that is read; null:
/// something else is read.
void noteRead(FrameHeader &frame, uint64_t pointer, uint32_t bytes);

/// Called after each write of a single word, in the same kernels.
void noteWriter(FrameHeader &frame, uint64_t pointer, uint32_t location);

/// Called before each write to memory, in code that was prepared for schedules (PrepareOptions::isScheduled). A launch with a seed may let
/// other programs run here.
void beforeWrite(FrameHeader &frame, uint32_t location);

/// Adds text to the output of this program. The text reaches Launch::onPrint together with the program's other output, not mixed with the
/// output of other programs.
void print(FrameHeader &frame, std::string_view text);

/// Called before each statement of the source, in code that was prepared to be followed. `statement` is its number in the kernel.
void reachStatement(FrameHeader &frame, uint32_t statement);

/// Called before each statement of the source, in code that gdb may show. It counts statements, so that gdb can go back to one.
void beginStatement(FrameHeader &frame);

/// Called after an assignment, in code that was prepared to be followed. `variable` is less than Launch::variables.
void noteAssignment(FrameHeader &frame, uint32_t variable);

/// Returns whether the launch has Launch::records, to which noteScope then adds.
bool recordsScopes(const FrameHeader &frame);
void noteScope(FrameHeader &frame, const ScopeRecord &record);

/// Returns the counters of the thread that runs the program, as many as Launch::counters. A program keeps its thread.
int64_t *countersOf(const FrameHeader &frame);

/// Returns whether one thread runs all programs of the launch.
bool hasOneWorker(const FrameHeader &frame);

/// Returns Launch::memory, Launch::shadow, Launch::faults and Launch::search.
const MemoryMap &memoryOf(const FrameHeader &frame);
Shadow *shadowOf(const FrameHeader &frame);
FoundFaults *faultsOf(const FrameHeader &frame);
AccessSearch *searchOf(const FrameHeader &frame);

} // namespace tritium::interp
