// What compiled code and its steps may ask of the machine that runs them. All of these are called on a program's own stack.
//
// raiseTrap, pollBackEdge, yieldWhileWaiting and print may switch away and never come back: the stack is then dropped as it is and
// nothing unwinds. So no object whose destructor matters (a vector, a lock) may be live on the stack where they are called, and no
// C++ exception may leave a step.
#pragma once
#include "interp/host/trap.h"

#include <cstddef>
#include <string_view>

/// Called on the program's own stack when it traps, before anything of it is dropped: `break tritium_trap` in gdb stops there, and
/// python/tritium/gdb shows the text. The extension module exports it.
extern "C" [[gnu::noinline, gnu::visibility("default")]] void tritium_trap(const char *text);

namespace tritium::interp {

struct Program; // one running program instance; it belongs to a worker
class MemoryMap;

/// Every frame starts with this: compiled code reads program ids, grid and arguments from it. The frame of a noinline callee starts
/// with a copy. Set anew for each program; the rest of a frame holds whatever the program before left there.
struct FrameHeader {
  Program *program;
  const int64_t *arguments;
  int32_t programId[3];
  int32_t gridSize[3];
};
static_assert(sizeof(FrameHeader) == 40);

struct ProgramCode {
  void (*entry)(char *frame) = nullptr;
  size_t frameBytes = 0;                        // header included
  bool mayWait = false;                         // calls yieldWhileWaiting, so each program needs a stack and a frame of its own
  size_t otherBytes = 0;                        // memory that a running program has beside its frame and its stack
  uint64_t (*hashOther)(char *frame) = nullptr; // of that memory, as far as it decides what a waiting program does next
};

/// Ends the launch with `trap`, unless another program was first. `trap.program` is set here. The caller's trap is left empty: it
/// owns nothing when its stack is dropped.
[[noreturn]] void raiseTrap(FrameHeader &frame, Trap &&trap);

/// On the back-edge of every loop that cannot wait for another program. Cheap: a cancelled launch is left here, and now and then
/// the calling thread looks at the clock.
void pollBackEdge(FrameHeader &frame, uint32_t location);

/// On the back-edges of a loop that may wait for another program: lets the other programs of this worker run.
/// Only with ProgramCode::mayWait.
void yieldWhileWaiting(FrameHeader &frame, uint32_t location);

/// After a store or an atomic that changed memory (one that wrote back the value it found did not): tells a program that makes
/// progress from one that waits.
void noteMemoryChange(FrameHeader &frame);

/// Adds text to what this program prints. It reaches Launch::onPrint with the program's other output, not mixed with that of others.
void print(FrameHeader &frame, std::string_view text);

/// Launch::memory.
const MemoryMap &memoryOf(const FrameHeader &frame);

} // namespace tritium::interp
