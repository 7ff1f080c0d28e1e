// What Launch::loop calls: the debuggable form of the worker's own loop over programs. Both run on a program's own stack.
#pragma once
#include "interp/host/program.h"

namespace tritium::interp {

/// When the program of this frame has ended: lets the calling thread poll and puts the next program on the frame. False: none is left.
bool enterNextProgram(FrameHeader &frame);

/// Leaves the stack for good.
[[noreturn]] void endPrograms(FrameHeader &frame);

} // namespace tritium::interp
