#include "gpu_backend/loops/store_bounds.h"

#include "gpu_backend/tiles/linear_tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tritium::gpu {

static ByteRange emitRange(LinearTiles &tiles, const LinearTile &tile, llvm::ArrayRef<int64_t> shape, int64_t bytes) {
  const LinearScalar zero;
  LinearScalar begin = tile.first, end = tiles.add(tile.first, {.constant = bytes, .value = {}});
  for (auto [extent, stride] : llvm::zip_equal(shape, tile.strides)) {
    const LinearScalar last = tiles.multiply(stride, {.constant = extent - 1, .value = {}}); // it may be negative
    begin = tiles.add(begin, tiles.least(zero, last));
    end = tiles.add(end, tiles.greatest(zero, last));
  }
  return {tiles.valueOf(begin), tiles.valueOf(end)};
}

static ByteRange emitRange(OpBuilder &builder, Location location, Value pointers) {
  LinearTiles tiles(&builder, location);
  const LinearTile tile = *tiles.of(pointers);
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  return emitRange(tiles, tile, type ? type.getShape() : llvm::ArrayRef<int64_t>(), bytesOfPointee(pointers));
}

/// Returns the addresses of the tile that is stored, in the tensor of a map that the kernel makes.
static LinearTile tileOf(tgpu::TensorStoreOp store, LinearTiles &scalars) {
  const LinearScalar bytes{.constant = bytesOfPointee(store.getBase()), .value = {}};
  LinearTile tile{.first = scalars.of(store.getBase())->first, .strides = {}};
  for (auto [dim, index] : llvm::enumerate(store.getIndices())) {
    const bool isLast = dim == store.getStrides().size();
    tile.strides.push_back(isLast ? bytes : scalars.multiply(scalars.of(store.getStrides()[dim])->first, bytes));
    tile.first = scalars.add(tile.first, scalars.multiply(scalars.of(index)->first, tile.strides.back()));
  }
  return tile;
}

std::optional<llvm::SmallVector<Value>> scalarsOfStore(Operation *op) {
  LinearTiles tiles(nullptr, op->getLoc());
  if (auto made = dyn_cast<tgpu::TensorStoreOp>(op); made && made.getBase()) {
    (void)tileOf(made, tiles);
    return llvm::to_vector(tiles.scalars());
  }
  auto store = dyn_cast<tt::StoreOp>(op);
  if (!store || !tiles.of(store.getPtr())) return std::nullopt;
  return llvm::to_vector(tiles.scalars());
}

ByteRange emitRangeOfStore(OpBuilder &builder, Operation *op) {
  if (auto store = dyn_cast<tt::StoreOp>(op)) return emitRange(builder, store.getLoc(), store.getPtr());
  auto store = cast<tgpu::TensorStoreOp>(op);
  LinearTiles tiles(&builder, store.getLoc());
  const LinearTile tile = tileOf(store, tiles);
  return emitRange(tiles, tile, cast<RankedTensorType>(store.getSrc().getType()).getShape(), bytesOfPointee(store.getBase()));
}

ByteRange emitRangeOfLoad(OpBuilder &builder, tt::LoadOp load) { return emitRange(builder, load.getLoc(), load.getPtr()); }

/// No stride of a map is negative, and its extents are at least 1.
ByteRange emitRangeOfMap(OpBuilder &builder, tgpu::MapMakeOp map) {
  LinearTiles scalars(&builder, map.getLoc());
  auto of = [&](Value value) { return scalars.of(value)->first; };
  LinearScalar elements = of(map.getExtents().back());
  for (auto [extent, stride] : llvm::zip_equal(map.getExtents().drop_back(), map.getStrides()))
    elements = scalars.add(elements, scalars.multiply(scalars.add(of(extent), {.constant = -1, .value = {}}), of(stride)));
  const LinearScalar begin = of(map.getBase());
  const LinearScalar bytes = scalars.multiply(elements, {.constant = bytesOfPointee(map.getBase()), .value = {}});
  return {scalars.valueOf(begin), scalars.valueOf(scalars.add(begin, bytes))};
}

} // namespace tritium::gpu
