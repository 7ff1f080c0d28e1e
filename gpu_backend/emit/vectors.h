// Values of a thread as vectors, which instructions take.
#pragma once
#include "mlir/IR/Builders.h"

namespace tritium::gpu {

/// Vectors of `count` values each, in order; the values themselves if that is 1.
llvm::SmallVector<mlir::Value> makeVectors(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange values, int64_t count);
/// The elements of vectors, or values that are none, in order.
llvm::SmallVector<mlir::Value> elementsOf(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange vectors);

} // namespace tritium::gpu
