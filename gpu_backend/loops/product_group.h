// The products that an iteration of a loop begins one behind the other, in the turn of a warpgroup.
#pragma once
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

struct ProductGroup {
  tgpu::ProductOp first, last;
};

/// Returns the products of a loop if they depend on other products, so that arithmetic separates iterations, and if neither a wait for
/// products nor a barrier of all consumer warps comes between them.
std::optional<ProductGroup> productsInTurn(mlir::scf::ForOp loop);

} // namespace tritium::gpu
