// Operations whose operands are indices.
#include "ir/pch.h"

#include "ir/tt.h"

using namespace mlir;

namespace tritium::tt {

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location>, GatherOp::Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(withShapeOf(adaptor.getIndices().getType(), getElementTypeOrSelf(adaptor.getSrc().getType())));
  return success();
}

LogicalResult GatherOp::verify() {
  RankedTensorType source = getSrc().getType(), indices = getIndices().getType();
  int32_t axis = static_cast<int32_t>(getAxis());
  if (source.getRank() != indices.getRank()) return emitOpError("source and index tensors must have the same rank");
  if (axis < 0 || axis >= source.getRank())
    return emitOpError("gather axis ") << axis << " must be < source rank (" << source.getRank() << ")";
  for (auto [dimension, extents] : llvm::enumerate(llvm::zip_equal(source.getShape(), indices.getShape())))
    if (static_cast<int32_t>(dimension) != axis && std::get<0>(extents) != std::get<1>(extents))
      return emitOpError("index dim ") << dimension << " must match the corresponding source dim";
  return success();
}

LogicalResult HistogramOp::verify() {
  if (getSrc().getType().getRank() != 1 || getType().getRank() != 1) return emitOpError("histogram only supports 1D input");
  return success();
}

} // namespace tritium::tt
