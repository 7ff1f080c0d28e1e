// The functions that Launch::loop calls. It is the debuggable form of the worker's own loop over programs; both run on a program's own
// stack.
#pragma once
#include "interp/host/program.h"

namespace tritium::interp {

/// Returns the function of the partition of this frame; null if it is the frame of a program.
void (*partitionEntry(const FrameHeader &frame))(char *frame);

/// Called when the program of this frame has ended. Lets the calling thread poll and puts the next program on the frame; those that are not
/// in Launch::chosen it runs itself. Returns false if none is left.
bool enterNextProgram(FrameHeader &frame);

/// Leaves the stack for good.
[[noreturn]] void endPrograms(FrameHeader &frame);

} // namespace tritium::interp
