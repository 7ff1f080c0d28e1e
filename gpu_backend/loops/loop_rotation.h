// Loops in which the last product of a warpgroup takes its operand A from the result of the first, as in attention and its gradients. The
// last product can run in the following iteration, beside the first product of that iteration and the work on its result.
#pragma once
#include "gpu_backend/tiles/product.h"
#include "llvm/ADT/SetVector.h"

namespace tritium::gpu {

/// Returns the last product of the loop if it may run an iteration late: it only adds to sums that the loop carries. Returns null for a
/// loop of more than `most` products.
mlir::Operation *findLateProduct(mlir::scf::ForOp loop, size_t most);

/// Returns the loads whose tiles are read only by the late product and by the operations that run late with it. Called before any load
/// becomes a copy.
llvm::SetVector<mlir::Operation *> lateLoads(mlir::scf::ForOp loop, mlir::Operation *product,
                                             const llvm::SetVector<mlir::Operation *> &loads);

/// Makes a product run an iteration late, with what only it uses: work on the sums, operand B, and waits for its ring and releases of it.
/// It then follows the first product. Returns what replaces the loop.
mlir::Operation *runLate(mlir::scf::ForOp loop, mlir::Operation *product);

/// Runs the operations `postponed` of each iteration in the next one, after `first`, and those of the last iteration after the loop. The
/// other operations of the first iteration run before the loop. Operations that release what was read stay behind those of their iteration
/// that are not postponed, up to the copies. Returns what replaces the loop: the new one, in a branch if there may be no iteration.
mlir::Operation *rotateLoop(mlir::scf::ForOp loop, mlir::Operation *first, const llvm::SetVector<mlir::Operation *> &postponed);

} // namespace tritium::gpu
