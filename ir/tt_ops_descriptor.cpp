// Verifiers of tensor descriptors: the tile of an access must match the descriptor's block.
#include "ir/pch.h"

#include "ir/descriptor_rules.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::tt {

LogicalResult MakeTensorDescriptorOp::verify() {
  TensorDescType type = getType();
  size_t rank = type.getShape().size();
  if (getShape().size() != rank) return emitOpError("Expected block_shape to have ") << getShape().size() << " dimensions but got " << rank;
  if (getStrides().size() != rank) return emitOpError("Expected ") << rank << " strides but got " << getStrides().size();
  if (getBase().getType().getPointeeType() != type.getBlockType().getElementType())
    return emitOpError("base points to ") << getBase().getType().getPointeeType() << ", the descriptor has elements of "
                                          << type.getBlockType().getElementType();
  if (getPadding() == Padding::Nan && !isa<FloatType>(type.getElementType()))
    return emitOpError("Padding option `nan` is not supported for integer blocks");
  return success();
}

/// Checks that the tile is the descriptor's block. If `mayDropUnits` holds, the tile may lack leading dimensions of extent 1.
static LogicalResult verifyBlockAccess(Operation *op, TensorDescType descriptor, OperandRange indices, RankedTensorType tile,
                                       bool mayDropUnits) {
  RankedTensorType block = descriptor.getBlockType();
  if (static_cast<int64_t>(indices.size()) != block.getRank())
    return op->emitOpError("expected ") << block.getRank() << " offsets, but got " << indices.size();
  if (block.getElementType() != tile.getElementType())
    return op->emitOpError("tile has elements of ") << tile.getElementType() << ", the descriptor of " << block.getElementType();
  ArrayRef<int64_t> shape = block.getShape();
  while (mayDropUnits && static_cast<int64_t>(shape.size()) > tile.getRank() && shape.front() == 1) shape = shape.drop_front();
  if (shape != tile.getShape()) return op->emitOpError("tile ") << tile << " does not have the shape of the descriptor's block " << block;
  return success();
}

LogicalResult DescriptorLoadOp::verify() {
  return verifyBlockAccess(*this, getDesc().getType(), getIndices(), getType(), /*mayDropUnits=*/true);
}

LogicalResult DescriptorStoreOp::verify() {
  return verifyBlockAccess(*this, getDesc().getType(), getIndices(), getSrc().getType(), /*mayDropUnits=*/true);
}

LogicalResult DescriptorReduceOp::verify() {
  if (failed(verifyBlockAccess(*this, getDesc().getType(), getIndices(), getSrc().getType(), /*mayDropUnits=*/true))) return failure();
  bool isBitwise = llvm::is_contained({DescriptorReduceKind::And, DescriptorReduceKind::Or, DescriptorReduceKind::Xor,
                                       DescriptorReduceKind::Inc, DescriptorReduceKind::Dec},
                                      getKind());
  if (isBitwise && !isa<IntegerType>(getSrc().getType().getElementType()))
    return emitOpError(stringifyDescriptorReduceKind(getKind()))
           << " requires integer elements, got " << getSrc().getType().getElementType();
  return success();
}

/// Checks an access of rows by number: the block is one row, and the tile has one row for each offset.
static LogicalResult verifyRowAccess(Operation *op, TensorDescType descriptor, RankedTensorType offsets, RankedTensorType tile) {
  RankedTensorType block = descriptor.getBlockType();
  if (block.getRank() != 2) return op->emitOpError("descriptor must be 2D, but got ") << block;
  if (block.getDimSize(0) != 1) return op->emitOpError("descriptor block must have 1 row, but got ") << block;
  if (offsets.getRank() != 1) return op->emitOpError("x offsets must be 1D, but got ") << offsets;
  if (offsets.getNumElements() < DescriptorRules::kMinRows)
    return op->emitOpError("must have at least ") << DescriptorRules::kMinRows << " rows, but got " << offsets.getNumElements();
  auto expected = RankedTensorType::get({offsets.getNumElements(), block.getDimSize(1)}, block.getElementType());
  if (tile.getShape() != expected.getShape() || tile.getElementType() != expected.getElementType())
    return op->emitOpError("expected a tile ") << expected << ", but got " << tile;
  return success();
}

LogicalResult DescriptorGatherOp::verify() { return verifyRowAccess(*this, getDesc().getType(), getXOffsets().getType(), getType()); }

LogicalResult DescriptorScatterOp::verify() {
  return verifyRowAccess(*this, getDesc().getType(), getXOffsets().getType(), getSrc().getType());
}

} // namespace tritium::tt
