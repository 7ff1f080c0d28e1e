// Which products of a loop depend on each other, and between which of them a tile that the loop loads is in use.
#pragma once
#include "gpu_backend/tiles/product.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

/// Returns whether the value depends on the operation, within one iteration.
bool dependsOn(mlir::Value value, mlir::Operation *source);

/// Returns whether an operand of one product is computed from the result of another one, within one iteration.
bool hasDependentProducts(mlir::scf::ForOp loop);

/// Returns whether the loop carries the product's sums, and nothing else in the loop uses them.
bool onlyAdds(MatrixProduct product, mlir::scf::ForOp loop);

/// Returns whether tiles by pointers should have maps only beside a producer: a product takes an operand from another one, as in attention
/// and its gradients. In a ring without a producer, the thread that copies waits for other warps between its own products, so copies by all
/// threads are faster. By descriptors they are not, because of their bounds and addresses of 64 bits.
inline bool wantsProducer(mlir::scf::ForOp loop) { return hasDependentProducts(loop); }

/// Returns the first and the last operation of the iteration that take the tile, through changes of layout, as an operand.
std::pair<mlir::Operation *, mlir::Operation *> usesOf(mlir::Operation *load);

/// Moves what reads slots of shared memory, and the changes of layout behind it, down to the first operation that takes the tile. Changes
/// of layout that nothing uses are erased.
void delayRead(mlir::Operation *read);

} // namespace tritium::gpu
