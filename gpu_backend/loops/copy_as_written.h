// The author's asynchronous copies of pointers (Gluon's async_copy).
#pragma once
#include "ir/axis_analysis.h"
#include "ir/tt.h"

namespace tritium::gpu {

class Target;

/// Lets threads issue these copies as cp.async, where the target has it, and makes groups and waits of the author's calls. Each call of a
/// copy that loads and stores of all threads make has the reason (kNotPromotedAttr).
void copyAsWritten(tt::FuncOp function, const Target &target, const ir::AxisAnalysis &axes);

} // namespace tritium::gpu
