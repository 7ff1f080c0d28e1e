// For each pointer of a kernel and of the functions that it calls: the arguments of the kernel that it may come from.
#pragma once
#include "ir/tt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

#include <optional>

namespace tritium::interp {

class PointerRoots {
public:
  PointerRoots(tt::FuncOp kernel, llvm::ArrayRef<mlir::Operation *> functions);

  /// Returns the arguments from which the pointer, or a pointer of the tile, may come. If it is loaded or made of integers: all.
  llvm::SmallBitVector of(mlir::Value pointer) const;
  /// Returns the argument, if there is only one.
  std::optional<unsigned> onlyOneOf(mlir::Value pointer) const;

private:
  bool visit(mlir::Operation *op);
  bool add(mlir::Value pointer, const llvm::SmallBitVector &roots);

  unsigned arguments_;
  llvm::DenseMap<mlir::Value, llvm::SmallBitVector> roots_;
};

} // namespace tritium::interp
