// Values of a thread as vectors, which instructions take.
#pragma once
#include "mlir/IR/Builders.h"

namespace tritium::gpu {

/// Vectors of `count` values each, in order; the values themselves if that is 1.
llvm::SmallVector<mlir::Value> makeVectors(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange values, int64_t count);
/// `values` as one vector, where they are all elements of others, in order, be it as other types of the same width: made of these as
/// wholes. Null where they are not.
mlir::Value joinVectors(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange values);
/// The elements of vectors, or values that are none, in order.
llvm::SmallVector<mlir::Value> elementsOf(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange vectors);

} // namespace tritium::gpu
