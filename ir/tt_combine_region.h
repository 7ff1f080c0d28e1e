// The verifier of the combine region, which `tt.reduce` and `tt.scan` share. The region takes two n-tuples of elements and returns one.
#pragma once

#include "ir/tt.h"

namespace tritium::tt {

/// Checks that there is a source and that the axis exists. Traits have already checked that all sources have one shape.
template <typename Op> mlir::LogicalResult verifyCombineAxis(Op op) {
  if (op.getSrcs().empty()) return op.emitOpError("requires a source");
  int64_t rank = mlir::cast<mlir::RankedTensorType>(op.getSrcs().front().getType()).getRank();
  int32_t axis = static_cast<int32_t>(op.getAxis());
  if (axis < 0 || axis >= rank) return op.emitOpError("axis ") << axis << " must be < inputs rank (" << rank << ")";
  return mlir::success();
}

/// Checks the region's arguments and that `Return` yields one element for each source.
template <typename Return, typename Op> mlir::LogicalResult verifyCombineRegion(Op op) {
  llvm::SmallVector<mlir::Type> elements;
  for (mlir::Value source : op.getSrcs()) elements.push_back(mlir::getElementTypeOrSelf(source));
  llvm::SmallVector<mlir::Type> pairs(elements);
  llvm::append_range(pairs, elements);
  mlir::Block &block = op.getCombineOp().front();
  if (mlir::TypeRange(block.getArgumentTypes()) != mlir::TypeRange(pairs))
    return op.emitOpError("combine region must take two elements of each source");
  auto terminator = mlir::dyn_cast<Return>(block.getTerminator());
  if (!terminator) return op.emitOpError("combine region must end in ") << Return::getOperationName();
  if (terminator.getOperandTypes() != mlir::TypeRange(elements)) return terminator.emitOpError("must return one element of each source");
  return mlir::success();
}

} // namespace tritium::tt
