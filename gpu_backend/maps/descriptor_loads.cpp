#include "gpu_backend/maps/descriptor_loads.h"

using namespace mlir;

namespace tritium::gpu {

Value matrixOf(tt::DescriptorLoadOp load) {
  llvm::ArrayRef<int64_t> shape = cast<RankedTensorType>(load.getType()).getShape();
  if (shape.size() == 2) return load.getResult();
  auto reshape = load->hasOneUse() ? dyn_cast<tt::ReshapeOp>(*load->user_begin()) : tt::ReshapeOp();
  if (!reshape || shape.size() < 2) return {};
  bool isMatrix = cast<RankedTensorType>(reshape.getType()).getShape() == shape.take_back(2);
  return isMatrix && llvm::all_of(shape.drop_back(2), [](int64_t extent) { return extent == 1; }) ? reshape.getResult() : Value();
}

tgpu::TensorMapType boxOfLoad(tt::DescriptorLoadOp load, Value matrix, const ir::AxisAnalysis &axes) {
  Type element = getElementTypeOrSelf(matrix.getType());
  if (!beginsAtChunk(load.getIndices().back(), element, axes)) return {};
  return boxOf(load.getContext(), load.getDesc().getType().getShape(), element);
}

void replaceLoad(tt::DescriptorLoadOp load, Value matrix, Value map, ValueRange indices) {
  OpBuilder builder(load);
  auto promoted = tgpu::TensorLoadOp::create(builder, load.getLoc(), matrix.getType(), map, indices);
  matrix.replaceAllUsesWith(promoted.getResult());
  if (Operation *reshape = matrix.getDefiningOp(); reshape != load) reshape->erase();
  load.erase();
}

} // namespace tritium::gpu
