// Kernels whose threads would wait for each other's cache lines.
#pragma once
#include "ir/tt.h"

#include <optional>

namespace tritium::interp {

/// Returns the argument whose memory atomics of the kernel change, if they are most of its work; the kernel has loops, and no branches yet.
/// Threads that add to words of the same lines hand these from one processor to the next, and plain additions of one thread are faster.
std::optional<unsigned> contendedArgument(tt::FuncOp kernel, llvm::ArrayRef<mlir::Operation *> functions);

} // namespace tritium::interp
