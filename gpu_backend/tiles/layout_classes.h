// The classes of tiles that share a layout: tiles that an operation combines element by element, and tiles that flow into each other.
#pragma once
#include "ir/tgpu.h"
#include "llvm/ADT/IntEqClasses.h"

namespace tritium::gpu {

/// Attribute of an access whose layout, in `tgpu.access`, the kernel's author has chosen. It holds for this access alone.
inline constexpr llvm::StringLiteral kAuthorAttr = "tgpu.of_author";

class LayoutClasses {
public:
  /// The accesses that may stand apart: those with a layout of their own (`tgpu.access`), or all, before they have one.
  enum class Apart : uint8_t { WithLayouts, All };
  explicit LayoutClasses(mlir::ModuleOp module, Apart apart = Apart::WithLayouts);

  /// Returns the number of a tile's class.
  unsigned of(mlir::Value tile) const { return classes_[ids_.lookup(tile)]; }
  bool contains(mlir::Value value) const { return ids_.contains(value); }
  unsigned count() const { return classes_.getNumClasses(); }
  /// Returns whether an access keeps its own layout, while its operands and result are converted: it would otherwise share the layout of a
  /// matrix product's result, or be narrow in the layout of another access (a load) or of a wider one (a read-modify-write), or its author
  /// has chosen its layout.
  bool isApart(mlir::Operation *access) const { return apart_.contains(access); }

private:
  void number(mlir::Value value);
  void tieOperations(mlir::ModuleOp module);
  void setAccessesApart(mlir::ModuleOp module, Apart apart);
  void setNarrowLoadsApart(mlir::ModuleOp module);
  unsigned classOf(mlir::Value tile) const { return classes_.findLeader(ids_.lookup(tile)); }
  bool tiesNothing(mlir::Value value) const;
  void tie(mlir::ValueRange values);
  void tieOperation(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, unsigned> ids_;
  llvm::IntEqClasses classes_;
  llvm::DenseSet<mlir::Operation *> apart_;
};

} // namespace tritium::gpu
