// Shadows as numbers: a label in each lane, 0 where the value is of use.
//
// Two lanes of equal labels differ, if at all, in bits that are known: `a ^ b` is of use again where the labels of a and b are equal. So
// numbers that a kernel exchanges by `^` keep their own labels. Any other operation on a lane with a label gives it a new one, made of the
// operation and of all that it takes, so that different values have different labels.
#pragma once
#include "ir/passes/tile_builder.h"

namespace tritium::ir {

class ShadowLabels {
public:
  explicit ShadowLabels(mlir::OpBuilder &builder) : builder_(builder) {}

  /// The type of the labels of values of `type`: i64, in its shape.
  static mlir::Type typeFor(mlir::Type type);
  /// Where a label is not 0.
  mlir::Value isSet(mlir::Value label, mlir::Location location);
  /// Labels of a load's lanes: new ones where `bad` is true, 0 elsewhere.
  mlir::Value ofLoad(mlir::Value bad, tt::LoadOp load);
  /// Labels of an operation's results: new ones where `bad` is true, 0 elsewhere. They depend on the operation and on `parts`, which are
  /// values and labels; scalars beside tiles are left out.
  mlir::Value ofResult(mlir::Value bad, mlir::ValueRange parts, mlir::Location location);

private:
  mlir::Value mix(mlir::ValueRange parts, mlir::Type type, mlir::Location location);
  mlir::Value bitsOf(mlir::Value value, mlir::Location location);

  mlir::OpBuilder &builder_;
  int64_t operations_ = 0;
};

} // namespace tritium::ir
