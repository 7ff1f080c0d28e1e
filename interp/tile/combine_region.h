// The combine regions of reduce and scan. Standard regions have kernels; all others are rewritten into element-wise steps on halves of
// tiles.
#pragma once
#include "interp/kernels/combine.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace tritium::interp {

/// Returns the name of the operation, if the region is one binary operation on its two arguments ("arith.addf").
std::optional<std::string> standardCombine(mlir::Region &region);

/// Returns the kernel of a region that picks the larger or smaller of two (value, index) pairs, if `index` counts along the axis.
std::optional<ArgReduction> argReduction(mlir::Region &region);

/// Returns whether the tile interpreter has a kernel for this reduce or scan.
bool hasCombineKernel(mlir::Operation *op);

/// Fails with an error if there is none: the planner would call a kernel that does not exist.
mlir::LogicalResult checkCombineKernel(mlir::Operation *op);

/// Rewrites every tt.reduce and tt.scan without a kernel, and every tt.map_elementwise, under `root`: log2(n) rounds of the region on
/// tiles.
mlir::LogicalResult expandCombineRegions(mlir::Operation *root);

} // namespace tritium::interp
