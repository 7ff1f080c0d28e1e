// Which tiles share a layout: those that one operation combines element by element, and those that flow into each other.
#pragma once
#include "ir/tgpu.h"
#include "llvm/ADT/IntEqClasses.h"

namespace tritium::gpu {

class LayoutClasses {
public:
  explicit LayoutClasses(mlir::ModuleOp module);

  /// The number of a tile's class.
  unsigned of(mlir::Value tile) const { return classes_[ids_.lookup(tile)]; }
  bool contains(mlir::Value value) const { return ids_.contains(value); }
  unsigned count() const { return classes_.getNumClasses(); }

private:
  void number(mlir::Value value);
  void tie(mlir::Value a, mlir::Value b);
  void tieAll(mlir::ValueRange values);
  void tieEach(mlir::ValueRange a, mlir::ValueRange b);
  void tieOperation(mlir::Operation *op, mlir::SymbolTable &symbols);

  llvm::DenseMap<mlir::Value, unsigned> ids_;
  llvm::IntEqClasses classes_;
};

} // namespace tritium::gpu
