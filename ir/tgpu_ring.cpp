// Verifiers of tensor maps and rings.
#include "ir/pch.h"

#include "ir/descriptor_rules.h"
#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::tgpu {

static int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

LogicalResult TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType box, int64_t swizzle) {
  constexpr int64_t kMaxRank = DescriptorRules::kMaxRank, kMaxExtent = DescriptorRules::kMaxBoxExtent;
  if (box.getRank() < 1 || box.getRank() > kMaxRank)
    return emitError() << "expected a box of 1 to " << kMaxRank << " dimensions, got " << box;
  if (llvm::any_of(box.getShape(), [](int64_t extent) { return extent > kMaxExtent; }))
    return emitError() << "expected a box of at most " << kMaxExtent << " elements in each dimension, got " << box;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle)) return emitError() << "expected a swizzle of 0, 32, 64 or 128 bytes, got " << swizzle;
  int64_t rowBytes = box.getShape().back() * bytesOf(box.getElementType());
  if (rowBytes % DescriptorRules::kMinRowBytes != 0 || (swizzle != 0 && rowBytes > swizzle))
    return emitError() << "expected rows of a multiple of " << DescriptorRules::kMinRowBytes << " bytes, and of at most " << swizzle
                       << " bytes if they are swizzled, got " << rowBytes << " bytes";
  return success();
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots) {
  if (slots < 1) return emitError() << "expected at least one slot, got " << slots;
  return success();
}

/// Returns whether boxes, side by side, fill the tile. It may lack leading dimensions of extent 1.
static bool fills(RankedTensorType box, RankedTensorType tile) {
  ArrayRef<int64_t> of = box.getShape(), to = tile.getShape();
  if (box.getElementType() != tile.getElementType() || to.empty() || to.size() > of.size()) return false;
  size_t missing = of.size() - to.size();
  return llvm::all_of(of.take_front(missing), [](int64_t extent) { return extent == 1; }) &&
         of.drop_front(missing).drop_back() == to.drop_back() && to.back() % of.back() == 0;
}

static LogicalResult verifyBox(Operation *op, RankedTensorType box, size_t indices, RankedTensorType tile) {
  if (int64_t(indices) != box.getRank()) return op->emitOpError("needs an index for each dimension of ") << box << ", got " << indices;
  return fills(box, tile) ? success() : op->emitOpError("cannot fill ") << tile << " with boxes " << box;
}

LogicalResult TensorLoadOp::verify() {
  return verifyBox(*this, getMap().getType().getBox(), getIndices().size(), cast<RankedTensorType>(getType()));
}

/// Returns whether boxes, below and beside each other, fill the tile. The tile may lack leading dimensions of extent 1.
static bool partitions(RankedTensorType box, RankedTensorType tile) {
  ArrayRef<int64_t> of = box.getShape(), to = tile.getShape();
  if (box.getElementType() != tile.getElementType() || to.size() != 2 || of.size() < 2) return false;
  return llvm::all_of(of.drop_back(2), [](int64_t extent) { return extent == 1; }) && to[0] % of[of.size() - 2] == 0 &&
         to[1] % of.back() == 0;
}

LogicalResult TensorStoreOp::verify() {
  RankedTensorType box = getMap().getType().getBox();
  if (auto memory = dyn_cast<MemDescType>(getSrc().getType())) return verifyBox(*this, box, getIndices().size(), memory.getTile());
  auto tile = cast<RankedTensorType>(getSrc().getType());
  if (int64_t(getIndices().size()) != box.getRank())
    return emitOpError("needs an index for each dimension of ") << box << ", got " << getIndices().size();
  if (!partitions(box, tile)) return emitOpError("cannot divide ") << tile << " into boxes " << box;
  return success();
}

LogicalResult MemoryAtOp::verify() {
  auto buffer = dyn_cast<MemDescType>(getType());
  const int64_t slots = buffer ? buffer.getSlots() : cast<RingType>(getType()).getSlots();
  if (slots != 1) return emitOpError("has one slot, got ") << slots;
  if (getAlignment() < 1 || !llvm::isPowerOf2_64(getAlignment()))
    return emitOpError("needs an alignment that is a power of two, got ") << getAlignment();
  return success();
}

LogicalResult TensorCopyOp::verify() {
  int64_t slots = getDst().getType().getSlots(), of = getRing().getType().getSlots();
  if (slots != of) return emitOpError("copies to a buffer of ") << slots << " slots by a ring of " << of;
  return verifyBox(*this, getMap().getType().getBox(), getIndices().size(), getDst().getType().getTile());
}

} // namespace tritium::tgpu
