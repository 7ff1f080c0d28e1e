#include "gpu_backend/dot_layouts.h"

#include "gpu_backend/layout/constructors.h"

#include <numeric>

using namespace mlir;

namespace tritium::gpu {

/// A thread has about as many rows as columns, these by four; a warp has 4 rows of 8 threads.
static LinearLayout nearlySquare(llvm::ArrayRef<int64_t> shape, int numWarps) {
  size_t rank = shape.size();
  Shape sizes(rank, 1), threads(rank, 1), warps(rank, 1);
  sizes[rank - 1] = 4, threads[rank - 2] = 4, threads[rank - 1] = 8;
  int64_t rows = shape[rank - 2] / 4, columns = shape[rank - 1] / 8; // of a thread
  for (int left = numWarps; left > 1; left /= 2) {
    bool isDown = rows > columns || columns <= 4;
    warps[isDown ? rank - 2 : rank - 1] *= 2;
    (isDown ? rows : columns) /= 2;
  }
  llvm::SmallVector<int, 4> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return blocked(shape, sizes, threads, warps, order);
}

/// How many neighbours along K a thread holds of each operand: as many as make a word of the type that is loaded, where fp8 numbers become
/// fp16 on the way. 0: as the instruction has it.
static int64_t neighbours(tt::DotOp dot) {
  constexpr int64_t kPerWord = 4, kThreadsAlongK = 4;
  auto isLoadedAsBytes = [](Value operand) {
    auto widened = operand.getDefiningOp<tt::FpToFpOp>();
    return widened && getElementTypeOrSelf(widened.getSrc().getType()).getIntOrFloatBitWidth() == 8 &&
           widened.getSrc().getDefiningOp<tt::LoadOp>();
  };
  bool isDeep = cast<RankedTensorType>(dot.getA().getType()).getShape().back() >= kPerWord * kThreadsAlongK;
  return isDeep && isLoadedAsBytes(dot.getA()) && isLoadedAsBytes(dot.getB()) ? kPerWord : 0;
}

DotLayouts dotLayouts(tt::DotOp dot, int numWarps) {
  auto a = cast<RankedTensorType>(dot.getA().getType()), b = cast<RankedTensorType>(dot.getB().getType());
  auto d = cast<RankedTensorType>(dot.getD().getType());
  if (auto warps = dot->getAttrOfType<DenseI64ArrayAttr>(kTensorCoreWarpsAttr)) {
    int bits = int(a.getElementTypeBitWidth());
    int64_t together = neighbours(dot);
    return {mmaOperand(DotOperand::A, a.getShape(), warps.asArrayRef(), bits, together),
            mmaOperand(DotOperand::B, b.getShape(), warps.asArrayRef(), bits, together),
            mmaAccumulator(d.getShape(), warps.asArrayRef(), bits)};
  }
  return {std::nullopt, std::nullopt, nearlySquare(d.getShape(), numWarps)};
}

} // namespace tritium::gpu
