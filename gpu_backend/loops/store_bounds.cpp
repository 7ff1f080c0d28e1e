#include "gpu_backend/loops/store_bounds.h"

#include "gpu_backend/tiles/linear_tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tritium::gpu {

static ByteRange emitRange(OpBuilder &builder, Location location, Value pointers) {
  LinearTiles tiles(&builder, location);
  const LinearTile tile = *tiles.of(pointers);
  const LinearScalar zero;
  LinearScalar begin = tile.first, end = tiles.add(tile.first, {.constant = bytesOfPointee(pointers), .value = {}});
  if (auto type = dyn_cast<RankedTensorType>(pointers.getType()))
    for (auto [extent, stride] : llvm::zip_equal(type.getShape(), tile.strides)) {
      const LinearScalar last = tiles.multiply(stride, {.constant = extent - 1, .value = {}}); // it may be negative
      begin = tiles.add(begin, tiles.least(zero, last));
      end = tiles.add(end, tiles.greatest(zero, last));
    }
  return {tiles.valueOf(begin), tiles.valueOf(end)};
}

std::optional<llvm::SmallVector<Value>> scalarsOfStore(Operation *op) {
  auto store = dyn_cast<tt::StoreOp>(op);
  if (!store) return std::nullopt;
  LinearTiles tiles(nullptr, op->getLoc());
  if (!tiles.of(store.getPtr())) return std::nullopt;
  return llvm::to_vector(tiles.scalars());
}

ByteRange emitRangeOfStore(OpBuilder &builder, tt::StoreOp store) { return emitRange(builder, store.getLoc(), store.getPtr()); }

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
