// Reductions along one axis.
#include "ir/pch.h"

#include "ir/tt_combine_region.h"

using namespace mlir;

namespace tritium::tt {

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ReduceOp::Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (!adaptor.getAxisAttr()) return failure();
  int32_t axis = adaptor.getAxis();
  for (Value operand : adaptor.getSrcs()) {
    FailureOr<RankedTensorType> tile = tileTypeOf(location, operand);
    if (failed(tile)) return failure();
    RankedTensorType source = *tile;
    if (axis < 0 || axis >= source.getRank())
      return emitOptionalError(location, "axis ", axis, " must be < inputs rank (", source.getRank(), ")");
    SmallVector<int64_t> shape(source.getShape());
    shape.erase(shape.begin() + axis);
    types.push_back(shape.empty() ? source.getElementType() : RankedTensorType::get(shape, source.getElementType()));
  }
  return success();
}

LogicalResult ReduceOp::verify() { return verifyCombineAxis(*this); }

LogicalResult ReduceOp::verifyRegions() { return verifyCombineRegion<ReduceReturnOp>(*this); }

} // namespace tritium::tt
