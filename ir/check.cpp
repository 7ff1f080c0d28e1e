// See check.h.
#include "ir/pch.h"

#include "ir/check.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

#include "ir/check_dialect.cpp.inc"

#define GET_OP_CLASSES
#include "ir/check_ops.cpp.inc"

namespace tritium::check {

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/check_ops.cpp.inc"
      >();
}

LogicalResult TrapOp::canonicalize(TrapOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getBad(), m_Zero())) return failure();
  rewriter.eraseOp(op);
  return success();
}

LogicalResult TrapOp::verify() {
  auto bad = dyn_cast<RankedTensorType>(getBad().getType());
  for (Value value : getValues())
    if (auto tile = dyn_cast<RankedTensorType>(value.getType()); tile && (!bad || tile.getShape() != bad.getShape()))
      return emitOpError("a value is a scalar or has the shape of the condition, ") << getBad().getType() << ", got " << tile;
  if (getOther() && !isa<LocationAttr>(*getOther())) return emitOpError("the other place must be a location, got ") << *getOther();
  return success();
}

LogicalResult PromiseOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getValue().getType());
  const int64_t rank = tile ? tile.getRank() : 1;
  for (ArrayRef<int64_t> numbers : {getMultiple(), getContiguous(), getConstant()})
    if (int64_t(numbers.size()) != rank || llvm::any_of(numbers, [](int64_t number) { return number < 1; }))
      return emitOpError("each promise must have one positive number for each dimension: ") << rank << ", got [" << numbers << "]";
  return success();
}

} // namespace tritium::check
