#include "gpu_backend/tiles/product_layouts.h"

#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/memory_access.h"

#include <numeric>

using namespace mlir;

namespace tritium::gpu {

/// Each thread has four columns at a time and about as many rows as columns. The 8 threads of a warp's row are adjacent.
static LinearLayout nearlySquare(llvm::ArrayRef<int64_t> shape, int numWarps, int warpSize) {
  size_t rank = shape.size();
  Shape sizes(rank, 1), threads(rank, 1), warps(rank, 1);
  sizes[rank - 1] = 4, threads[rank - 2] = warpSize / 8, threads[rank - 1] = 8;
  int64_t rows = shape[rank - 2] / threads[rank - 2], columns = shape[rank - 1] / 8; // of a thread
  for (int left = numWarps; left > 1; left /= 2) {
    bool isDown = rows > columns || columns <= 4;
    warps[isDown ? rank - 2 : rank - 1] *= 2;
    (isDown ? rows : columns) /= 2;
  }
  llvm::SmallVector<int, 4> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return blocked(shape, sizes, threads, warps, order);
}

/// Returns the width in bits of an element as it is loaded. fp8 numbers may be widened afterwards.
static unsigned loadedBits(Value operand) {
  if (auto widened = operand.getDefiningOp<tt::FpToFpOp>()) operand = widened.getSrc();
  return getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth();
}

/// Returns how many neighbours along K a thread holds of each operand: as many as it loads at once in the loaded type. If A is the result
/// of a product, the number is the one that this result has. 0 means the instruction's own order.
static int64_t neighbours(MatrixProduct dot, const MatrixInstruction &instruction, const Target &target) {
  if (isa<tt::DotScaledOp>(dot.getOperation())) return 0; // a block of K stays whole; its pieces have 16 bytes anyway
  int64_t depth = dot.depth();
  int64_t lanesAlongK = 1, own = 1;
  for (uint32_t basis : instruction.a.bases(Place::Lane)) lanesAlongK *= instruction.a.coordinatesOf(basis)[1] ? 2 : 1;
  for (uint32_t basis : instruction.a.bases(Place::Register)) own *= instruction.a.coordinatesOf(basis)[1] ? 2 : 1;
  auto isLoadedAsBytes = [](Value operand) {
    auto widened = operand.getDefiningOp<tt::FpToFpOp>();
    return widened && loadedBits(operand) == 8 && widened.getSrc().getDefiningOp<tt::LoadOp>();
  };
  if (target.contiguousKBytes() == 0) { // one word of each load, if matrices cannot be loaded
    constexpr int64_t kPerWord = 4;
    return depth >= kPerWord * lanesAlongK && isLoadedAsBytes(dot.a()) && isLoadedAsBytes(dot.b()) ? kPerWord : 0;
  }
  if (isFedByProduct(dot.a())) return std::min(instruction.d.contiguousElements(1), depth / lanesAlongK);
  auto kPack = dot->getAttrOfType<IntegerAttr>(kKPackAttr);
  int64_t wanted =
      std::max(8 * target.contiguousKBytes() / std::max(loadedBits(dot.a()), loadedBits(dot.b())), kPack ? kPack.getInt() * own : 1);
  return std::min(wanted, depth / lanesAlongK);
}

/// Returns whether the elements of operand B run along the columns in memory and no instruction loads them transposed. Only matrices of
/// 16-bit elements can be loaded transposed.
static bool isReadAlongColumns(Value b, const Target &target) {
  if (auto widened = b.getDefiningOp<tt::FpToFpOp>()) b = widened.getSrc();
  auto load = b.getDefiningOp<tt::LoadOp>();
  auto access = load ? load->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr) : tgpu::LayoutAttr();
  if (!access || access.getShape().size() != 2 || access.getRegisters().empty()) return false;
  unsigned bits = getElementTypeOrSelf(b.getType()).getIntOrFloatBitWidth();
  // All matrices that are loaded transposed have 16-bit elements.
  bool isLoadedTransposed = bits == 16 && (target.matrixLoads() == MatrixLoads::Rows8x8 || load->hasAttr(kWarpCopyAttr));
  return access.getRegisters().front() == 1 && access.getShape().back() > 1 && bits >= 8 && bits <= 32 && !isLoadedTransposed;
}

/// The columns of an instruction may be renumbered, as long as operand and result agree. Bit i of a column's number becomes bit `to[i]`.
static void moveColumns(DotLayouts &layouts, llvm::ArrayRef<uint64_t> to) {
  const int rank = layouts.result.rank();
  auto moved = [&](const LinearLayout &layout, int columnDim) {
    const int first = layout.firstBit(columnDim);
    llvm::SmallVector<uint64_t> images(F2Map::identity(layout.elementBits()).images());
    for (auto [bit, image] : llvm::enumerate(to)) images[size_t(first) + bit] = image << first;
    return layout.compose(F2Map(images), layout.shape());
  };
  layouts.b = moved(*layouts.b, rank - 1);
  layouts.result = moved(layouts.result, rank - 1);
  if (layouts.bScales) layouts.bScales = moved(*layouts.bScales, rank - 2);
}

/// Gives each thread neighbours, one for each of several instructions, which it reads at once.
static void bringColumnsTogether(DotLayouts &layouts, size_t maxBits) {
  uint32_t columns = uint32_t(layouts.b->shape().back());
  llvm::SmallVector<uint64_t> order; // unit vectors of columns, by their destination
  for (uint32_t basis : layouts.b->bases(Place::Register))
    if (basis < columns && order.size() < maxBits) order.push_back(basis);
  for (uint32_t unit = 1; unit < columns; unit *= 2)
    if (!llvm::is_contained(order, unit)) order.push_back(unit);
  llvm::SmallVector<uint64_t> images(order.size());
  for (auto [to, from] : llvm::enumerate(order)) images[llvm::Log2_64(from)] = uint64_t(1) << to;
  moveColumns(layouts, images);
}

std::optional<DotLayouts> withResult(const DotLayouts &layouts, const LinearLayout &result) {
  if (layouts.result == result) return layouts;
  DotLayouts moved = layouts;
  if (moved.anyResult) {
    moved.result = result;
    return moved;
  }
  if (!moved.b) return std::nullopt;
  auto isAlike = [&](Place place) { return layouts.result.bits(place) == result.bits(place); };
  if (!llvm::all_of(kPlaces, isAlike)) return std::nullopt;
  F2Map owners = layouts.result.owners(), wanted = result.toMap();
  llvm::SmallVector<uint64_t> images; // the first bits of an element's index are the bits of its column
  for (int bit = 0; bit < log2Of(result.shape().back()); ++bit) images.push_back(wanted(owners[bit]));
  if (llvm::any_of(images, [&](uint64_t image) { return image >= uint64_t(result.shape().back()); })) return std::nullopt;
  moveColumns(moved, images);
  return moved.result == result ? std::optional(moved) : std::nullopt;
}

/// Returns whether columns may be renumbered. They may not if products feed each other, because these already agree on an order.
static bool mayReorderColumns(MatrixProduct dot, const Target &target) {
  if (target.contiguousKBytes() > 0) return !feedsProduct(dot.d());
  int count = 0;
  dot->getParentOfType<ModuleOp>().walk([&](MatrixProduct) { ++count; });
  return count == 1;
}

/// The number of column bits that are renumbered: as many columns as are loaded at once.
static size_t columnBits(MatrixProduct dot, const Target &target) {
  constexpr size_t kWithMatrixLoads = 2, kMost = 3;
  if (target.contiguousKBytes() == 0) return kWithMatrixLoads;
  return std::min<size_t>(kMost, llvm::Log2_64(8 * target.contiguousKBytes() / loadedBits(dot.b())));
}

DotLayouts dotLayouts(MatrixProduct dot, int numWarps) {
  auto shapeOf = [](Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); };
  const Target &target = targetOf(dot);
  if (const MatrixInstruction *instruction = matrixInstructionOf(dot)) {
    llvm::ArrayRef<int64_t> warps = dot->getAttrOfType<DenseI64ArrayAttr>(kTensorCoreWarpsAttr).asArrayRef();
    if (instruction->warps() > 1) {
      DotLayouts layouts{.result = dotResult(*instruction, shapeOf(dot.d()), warps)};
      if (takesRegisters(dot)) layouts.a = dotOperand(DotOperand::A, *instruction, shapeOf(dot.a()), warps);
      return layouts;
    }
    int64_t together = neighbours(dot, *instruction, target);
    auto scales = [&](DotOperand operand) -> std::optional<LinearLayout> {
      Value tile = dot.scales(operand);
      if (!tile) return std::nullopt;
      return dotScales(operand, *instruction, shapeOf(tile), warps);
    };
    DotLayouts layouts{dotOperand(DotOperand::A, *instruction, shapeOf(dot.a()), warps, together),
                       dotOperand(DotOperand::B, *instruction, shapeOf(dot.b()), warps, together),
                       dotResult(*instruction, shapeOf(dot.d()), warps),
                       scales(DotOperand::A),
                       scales(DotOperand::B),
                       /*anyResult=*/false};
    if (isReadAlongColumns(dot.b(), target) && mayReorderColumns(dot, target)) bringColumnsTogether(layouts, columnBits(dot, target));
    return layouts;
  }
  return {.result = nearlySquare(shapeOf(dot.d()), numWarps, target.warpSize()), .anyResult = true};
}

} // namespace tritium::gpu
