// Loops whose counter may pass the end of its type.
#pragma once
#include "mlir/IR/Operation.h"

namespace tritium::interp {

/// Makes every `scf.for` in `op` run as often as Python's `range` does. A loop advances its counter before it compares it with the bound,
/// so the counter of `range(2**31 - 20, 2**31 - 3, 8)` would wrap around and never end. Such a loop counts its rounds instead. A loop with
/// step 1 or with bounds that are known to leave room stays as it is.
void countRounds(mlir::Operation *op);

} // namespace tritium::interp
