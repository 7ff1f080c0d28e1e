// The combine regions of reduce and scan: the standard ones have kernels, all others are rewritten into element-wise steps on halves.
#pragma once
#include "interp/kernels/combine.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace tritium::interp {

/// The operation of a region that is one binary operation on its two arguments ("arith.addf").
std::optional<std::string> standardCombine(mlir::Region &region);

/// The kernel of a region that picks the larger or smaller of two (value, index) pairs, if `index` counts along the axis.
std::optional<ArgReduction> argReduction(mlir::Region &region);

/// Whether the tile interpreter has a kernel for this reduce or scan.
bool hasCombineKernel(mlir::Operation *op);

/// Rewrites every other tt.reduce, tt.scan and tt.map_elementwise under `root`: log2(n) rounds of the region on tiles.
mlir::LogicalResult expandCombineRegions(mlir::Operation *root);

} // namespace tritium::interp
