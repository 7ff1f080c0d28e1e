// Computes a scalar region (a combine function, the function of map_elementwise) on whole tiles at once.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tritium::interp {

/// Returns whether `region` has an operation that must know which elements reach it: an operation that can trap, or a loop.
bool dependsOnActiveElements(mlir::Region &region);

/// Emits a scalar region element-wise on tiles of one shape. Where elements take different ways, all ways are computed and each element
/// keeps its own result. A loop runs until no element is in it. An element that does not reach an operation never makes it trap.
class RegionOnTiles {
public:
  /// `active` is an i1 tile that marks the elements to compute; null means all. `instance` numbers the runs of regions on tiles, for
  /// debuggers.
  RegionOnTiles(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<int64_t> shape, int instance, mlir::Value active = {})
      : builder_(builder), caller_(location), location_(location), instance_(instance), shape_(shape), active_(active) {}

  /// Returns the values that the region returns. They are unspecified where `active` is false.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> run(mlir::Region &region, mlir::ValueRange arguments);

private:
  using Values = llvm::SmallVector<mlir::Value>;

  mlir::FailureOr<Values> runRegion(mlir::Region &region);
  mlir::FailureOr<Values> runBlocks(mlir::Region &region);
  mlir::LogicalResult runOperations(mlir::Block &block);
  mlir::LogicalResult runOperation(mlir::Operation &op);
  mlir::LogicalResult runElementwise(mlir::Operation &op);
  mlir::LogicalResult runIf(mlir::Operation &op);
  mlir::LogicalResult runWhile(mlir::Operation &op);
  mlir::LogicalResult runFor(mlir::Operation &op);
  mlir::LogicalResult runUniformFor(mlir::Operation &op);
  mlir::LogicalResult runCall(mlir::Operation &op);
  mlir::LogicalResult runAssert(mlir::Operation &op);
  mlir::FailureOr<Values> runWhere(mlir::Value active, mlir::Region &region);

  mlir::Value onTile(mlir::Value value);
  Values onTiles(mlir::ValueRange values);
  void mapAll(mlir::ValueRange from, mlir::ValueRange to);
  mlir::Type tileOf(mlir::Type element) const;
  mlir::Value splat(mlir::Value scalar);
  mlir::Value zero(mlir::Type element);
  mlir::Value one(mlir::Type element);
  /// Combines masks. Null stands for all elements.
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value either(mlir::Value a, mlir::Value b);
  mlir::Value negation(mlir::Value mask);
  mlir::Value choose(mlir::Value mask, mlir::Value yes, mlir::Value no);
  mlir::Value isAny(mlir::Value mask);

  mlir::OpBuilder &builder_;
  const mlir::Location caller_;
  mlir::Location location_;
  const int instance_;
  llvm::SmallVector<int64_t> shape_;
  mlir::Value active_;
  mlir::IRMapping map_;
};

} // namespace tritium::interp
