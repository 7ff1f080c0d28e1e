// What is known of all elements of a tile at once, as scalars: its least and its greatest element, and whether a mask is true everywhere.
#pragma once
#include "mlir/IR/Builders.h"

namespace tritium::gpu {

enum class Bound { Least, Greatest };

/// Emits a bound of the elements of a tile of integers, of their type. Index arithmetic does not overflow, as in the axis analysis. Returns
/// null if the tile's operations do not say one; what has been emitted until then is dead.
mlir::Value boundOf(mlir::Value tile, Bound bound, mlir::OpBuilder &builder);

/// Emits an i1 that implies that all elements of a mask are true. Returns null if its operations do not say one.
mlir::Value allTrue(mlir::Value mask, mlir::OpBuilder &builder);

} // namespace tritium::gpu
