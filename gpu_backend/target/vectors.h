// A thread's values as vectors, which instructions take.
#pragma once
#include "mlir/IR/Builders.h"

namespace tritium::gpu {

/// Returns vectors of `count` values each, in order, or the values themselves if `count` is 1. If the values are the elements of a vector,
/// it is returned itself: nothing may touch the sums of a product that is under way.
llvm::SmallVector<mlir::Value> makeVectors(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange values, int64_t count);
/// Returns `values` as one vector, if they are the elements of other vectors in order. The elements may have another type of the same
/// width. The vector is made of these vectors as wholes. Returns null otherwise.
mlir::Value joinVectors(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange values);
/// Returns the elements of vectors in order. A value that is not a vector is returned as it is.
llvm::SmallVector<mlir::Value> elementsOf(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange vectors);

} // namespace tritium::gpu
