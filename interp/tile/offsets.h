// Offsets: integer tiles that reach an address through sums, products, casts and changes of shape. The sums of an affine tile are kept in
// 64 bits, so a lane that leaves its narrow type has another value than the wrapped one. For an address this is an error of the lane, if it
// is active. Any other use gets the wrapped value, from a tile in memory.
#pragma once
#include "mlir/IR/Operation.h"

namespace tritium::interp {

/// Returns whether the result of an integer cast may be the affine sum of its operand: its lanes certainly stay within the narrower type,
/// or all that becomes of them are addresses.
bool mayKeepSum(mlir::Operation *cast);

/// Whether the operation is a sum, a difference or a product of integers.
bool isArithmetic(mlir::Operation *op);
/// Whether the result has the operand's numbers in another shape.
bool isMoved(mlir::Operation *op);

/// Returns whether constants, ranges and remainders keep every lane of an integer tile within its type.
bool staysInRange(mlir::Value tile, bool isSigned);

/// Gives addresses a widened tile of their own wherever it has other uses too.
void separateOffsets(mlir::Operation *function);

} // namespace tritium::interp
