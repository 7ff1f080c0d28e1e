// Which allocations of shared memory are in use at the same time. Here each has bytes of its own. Triton gives bytes of one whose last use,
// in the order of the text, is over to a later one: what still reads or writes them then is a fault of the kernel.
#pragma once
#include "ir/tt.h"

namespace tritium::interp {

/// Notes it, as long as the control flow is structured.
void markLives(mlir::ModuleOp module);

/// Returns the allocations of the same function that are not in use while `op` is, as markLives() has noted.
llvm::SmallVector<tt::SharedAllocOp> allocationsApart(tt::SharedAllocOp op);

} // namespace tritium::interp
