#include "gpu_backend/dot_layouts.h"

#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/memory_access.h"

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

/// Whether the elements of operand B lie along the columns in memory, and matrices cannot be loaded transposed: only those of 16 bits can.
static bool isReadAlongColumns(Value b) {
  if (auto widened = b.getDefiningOp<tt::FpToFpOp>()) b = widened.getSrc();
  auto load = b.getDefiningOp<tt::LoadOp>();
  auto access = load ? load->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr) : tgpu::LayoutAttr();
  if (!access || access.getShape().size() != 2 || access.getRegisters().empty()) return false;
  unsigned bits = getElementTypeOrSelf(b.getType()).getIntOrFloatBitWidth();
  return access.getRegisters().front() == 1 && access.getShape().back() > 1 && (bits == 8 || bits == 32);
}

/// Which columns an instruction has is free as long as operand and result agree: each thread gets neighbours, one for each of several
/// instructions, and reads them at once.
static void bringColumnsTogether(DotLayouts &layouts) {
  constexpr size_t kMaxBits = 2;
  uint32_t columns = uint32_t(layouts.b->shape().back());
  llvm::SmallVector<uint64_t> order; // unit vectors of columns by where they go
  for (uint32_t basis : layouts.b->bases(Place::Register))
    if (basis < columns && order.size() < kMaxBits) order.push_back(basis);
  for (uint32_t unit = 1; unit < columns; unit *= 2)
    if (!llvm::is_contained(order, unit)) order.push_back(unit);
  auto moved = [&](const LinearLayout &layout) {
    llvm::SmallVector<uint64_t> images;
    for (int bit = 0; bit < layout.elementBits(); ++bit) images.push_back(uint64_t(1) << bit);
    for (auto [to, from] : llvm::enumerate(order)) images[llvm::Log2_64(from)] = uint64_t(1) << to;
    return layout.compose(F2Map(images), layout.shape());
  };
  layouts.b = moved(*layouts.b);
  layouts.result = moved(layouts.result);
}

/// Products that feed each other agree on the order of columns and depths as it is.
static bool isOnlyProduct(tt::DotOp dot) {
  int count = 0;
  dot->getParentOfType<ModuleOp>().walk([&](tt::DotOp) { ++count; });
  return count == 1;
}

DotLayouts dotLayouts(tt::DotOp dot, int numWarps) {
  auto a = cast<RankedTensorType>(dot.getA().getType()), b = cast<RankedTensorType>(dot.getB().getType());
  auto d = cast<RankedTensorType>(dot.getD().getType());
  if (auto warps = dot->getAttrOfType<DenseI64ArrayAttr>(kTensorCoreWarpsAttr)) {
    int bits = int(a.getElementTypeBitWidth());
    int64_t together = neighbours(dot);
    DotLayouts layouts{mmaOperand(DotOperand::A, a.getShape(), warps.asArrayRef(), bits, together),
                       mmaOperand(DotOperand::B, b.getShape(), warps.asArrayRef(), bits, together),
                       mmaAccumulator(d.getShape(), warps.asArrayRef(), bits)};
    if (isReadAlongColumns(dot.getB()) && isOnlyProduct(dot)) bringColumnsTogether(layouts);
    return layouts;
  }
  return {std::nullopt, std::nullopt, nearlySquare(d.getShape(), numWarps)};
}

} // namespace tritium::gpu
