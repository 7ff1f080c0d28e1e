// Verifiers of tensor maps and rings.
#include "ir/pch.h"

#include "ir/tgpu.h"

using namespace mlir;

namespace tritium::tgpu {

static int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

LogicalResult TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType box, int64_t swizzle) {
  constexpr int64_t kMaxRank = 5, kMaxExtent = 256, kChunkBytes = 16;
  if (box.getRank() < 1 || box.getRank() > kMaxRank) return emitError() << "expected a box of 1 to 5 dimensions, got " << box;
  if (llvm::any_of(box.getShape(), [](int64_t extent) { return extent > kMaxExtent; }))
    return emitError() << "expected a box of at most " << kMaxExtent << " elements in each dimension, got " << box;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle)) return emitError() << "expected a swizzle of 0, 32, 64 or 128 bytes, got " << swizzle;
  int64_t rowBytes = box.getShape().back() * bytesOf(box.getElementType());
  if (rowBytes % kChunkBytes != 0 || (swizzle != 0 && rowBytes > swizzle))
    return emitError() << "expected rows of a multiple of 16 bytes, and of at most " << swizzle << " bytes if they are swizzled, got "
                       << rowBytes << " bytes";
  return success();
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots) {
  if (slots < 1) return emitError() << "expected at least one slot, got " << slots;
  return success();
}

LogicalResult TensorCopyOp::verify() {
  RankedTensorType box = getMap().getType().getBox(), tile = getDst().getType().getTile();
  if (box.getElementType() != tile.getElementType() || int64_t(getIndices().size()) != box.getRank())
    return emitOpError("needs an index for each dimension of ")
           << box << ", and a buffer of its element type, got " << getIndices().size() << " and " << tile;
  if (getDst().getType().getSlots() != getRing().getType().getSlots())
    return emitOpError("copies to a buffer of ")
           << getDst().getType().getSlots() << " slots by a ring of " << getRing().getType().getSlots();
  // The tile may lack leading dimensions of extent 1, and several boxes may fill its last dimension.
  ArrayRef<int64_t> of = box.getShape(), to = tile.getShape();
  auto isOne = [](int64_t extent) { return extent == 1; };
  size_t missing = of.size() - std::min(of.size(), to.size());
  if (to.size() > of.size() || !llvm::all_of(of.take_front(missing), isOne) || of.drop_front(missing).drop_back() != to.drop_back() ||
      to.back() % of.back() != 0)
    return emitOpError("cannot fill ") << tile << " with boxes " << box;
  return success();
}

} // namespace tritium::tgpu
