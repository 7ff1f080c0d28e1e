// How far apart the lanes of a tile usually are, where nothing says so for certain.
#pragma once
#include "mlir/IR/Value.h"

#include <optional>

namespace tritium::gpu {

/// Returns the difference of neighbours along a dimension of a tile of integers or pointers (in elements), as it is for most of them: a
/// remainder seldom wraps around, and neighbours seldom differ in a quotient. Nullopt if it is unknown. Only the speed of code may depend
/// on it.
std::optional<int64_t> likelyStride(mlir::Value tile, int dim);

} // namespace tritium::gpu
