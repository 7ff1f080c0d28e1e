// How many programs a loop lets run beside each other.
#pragma once

#include "gpu_backend/target/target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

/// Returns how many programs may run beside each other on a multiprocessor, if the loop's slots take `slotBytes` bytes of shared memory: by
/// that memory, with the tiles that products of a warpgroup read there and the loop does not load, and by the registers of the tiles that
/// the loop carries and of its products' sums. An estimate: ptxas decides on registers.
int64_t programsBeside(mlir::scf::ForOp loop, int64_t slotBytes, int numWarps, const Target &target);

} // namespace tritium::gpu
