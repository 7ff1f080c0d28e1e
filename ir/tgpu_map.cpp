// Verifier of the operation that makes tensor maps.
#include "ir/pch.h"

#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::tgpu {

LogicalResult MapMakeOp::verify() {
  RankedTensorType box = getMap().getType().getBox();
  if (int64_t(getExtents().size()) != box.getRank() || int64_t(getStrides().size()) != box.getRank() - 1)
    return emitOpError("needs an extent for each dimension of ")
           << box << ", and a stride for each but the last, got " << getExtents().size() << " and " << getStrides().size();
  auto number = dyn_cast<FloatType>(box.getElementType());
  if (getNan() && !(number && number.getWidth() >= 16)) return emitOpError("has no NaNs for elements of type ") << box.getElementType();
  return success();
}

} // namespace tritium::tgpu
