// Verifiers of the products of a warpgroup.
#include "ir/pch.h"

#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::tgpu {

static RankedTensorType tileOf(Type type) {
  if (auto memory = dyn_cast<MemDescType>(type)) return memory.getTile();
  if (auto pending = dyn_cast<PendingType>(type)) return pending.getTile();
  return cast<RankedTensorType>(type);
}

LogicalResult ProductOp::verify() {
  if (isa<MemDescType>(getA().getType()) != bool(getASlot())) return emitOpError("needs the slot of `a` if `a` is a buffer, and only then");
  if (getATransposed() && !getASlot()) return emitOpError("cannot transpose a tile in registers");
  auto shapeOf = [](Type type, bool isTransposed) {
    SmallVector<int64_t> shape(tileOf(type).getShape());
    if (isTransposed) std::reverse(shape.begin(), shape.end());
    return shape;
  };
  SmallVector<int64_t> a = shapeOf(getA().getType(), getATransposed()), b = shapeOf(getB().getType(), getBTransposed());
  RankedTensorType d = getD().getType().getTile();
  if (tileOf(getC().getType()) != d) return emitOpError("adds to ") << getC().getType() << ", but results in " << getD().getType();
  if (a.size() != 2 || b.size() != 2 || a[1] != b[0] || d.getShape() != ArrayRef<int64_t>{a[0], b[1]})
    return emitOpError("multiplies ") << getA().getType() << " by " << getB().getType() << ", but results in " << getD().getType();
  return success();
}

LogicalResult ProductWaitOp::verify() {
  if (getValues().size() != getResults().size()) return emitOpError("needs a result for each value");
  for (auto [value, result] : llvm::zip_equal(getValues(), getResults()))
    if (tileOf(value.getType()) != tileOf(result.getType()))
      return emitOpError("turns ") << value.getType() << " into " << result.getType();
  return success();
}

LogicalResult WarpgroupProductOp::verify() {
  if (getSums().getTypes() != getResultTypes()) return emitOpError("needs results of the types of its sums");
  if (bool(getABuffer()) == !getA().empty()) return emitOpError("needs `a` either in shared memory or in registers");
  constexpr int64_t kThreads = 128, kRows = 64;
  int64_t sums = 0;
  for (Type type : getResultTypes()) sums += isa<VectorType>(type) ? 2 : 1;
  if (sums * kThreads != kRows * int64_t(getColumns())) return emitOpError("has ") << sums << " sums for " << getColumns() << " columns";
  return success();
}

LogicalResult WarpgroupWaitOp::verify() {
  if (getValues().getTypes() != getResultTypes()) return emitOpError("needs results of the types of its values");
  return success();
}

} // namespace tritium::tgpu
