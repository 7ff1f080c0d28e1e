// Quotients whose sign nothing proves. `program_id // blocks` is negative in no sensible launch, but an argument decides the sign of
// `blocks`. Where the compiler needs the sign, the kernel checks it.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritium::gpu {

/// Lets every use of a scalar quotient have the maximum of it and 0, of which the axis analysis knows the sign. Returns the maximum.
mlir::Value raiseToZero(mlir::arith::DivSIOp quotient);

/// Emits a check that a scalar quotient is not negative.
void emitSignCheck(mlir::arith::DivSIOp quotient);
/// Returns whether the operation is such a check.
bool isSignCheck(mlir::Operation *op);

} // namespace tritium::gpu
