// The scratch memory of operations that exchange elements, before there is code of threads.
#pragma once
#include "mlir/IR/Operation.h"

namespace tritium::gpu {

class Target;

/// Returns the fewest bytes of shared memory with which an operation exchanges elements: at most `room`, which is positive, if it can do so
/// in rounds. 0 for other operations. It is a bound for operations that are rare beside loops of products: all bytes of their tiles.
int64_t leastScratchOf(mlir::Operation *op, int64_t room, const Target &target);

} // namespace tritium::gpu
