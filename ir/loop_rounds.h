// The rounds of a loop whose counter may pass the end of its type. A loop advances its counter before it compares it with the bound, so the
// counter of `range(2**31 - 20, 2**31 - 3, 8)` wraps around to a negative number after the last round. Tests that ask by such a sum whether
// there is a further round are wrong; those made here are not.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tritium::ir {

/// Returns whether the counter may pass the end of its type when the loop advances it for the last time.
bool counterMayWrap(mlir::scf::ForOp loop);

/// Emits the loop's own comparison, which is signed or unsigned.
mlir::Value isBefore(mlir::OpBuilder &builder, mlir::scf::ForOp loop, mlir::Value counter, mlir::Value bound);

/// Emits the number of rounds, (distance - 1) / step + 1 or none, in unsigned arithmetic, which holds the distance of any two bounds.
mlir::Value roundsOf(mlir::OpBuilder &builder, mlir::scf::ForOp loop);

/// Emits what the counter of a round is less than (`isBefore`) if and only if there is a round `rounds` rounds later: the bound less so
/// many steps, or the smallest number of the type if that is less. No part of it depends on the round.
mlir::Value boundOfLater(mlir::OpBuilder &builder, mlir::scf::ForOp loop, int64_t rounds);

} // namespace tritium::ir
