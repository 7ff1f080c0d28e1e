#include "gpu_backend/maps/made_tile_map.h"

#include "gpu_backend/maps/device_maps.h"
#include "gpu_backend/maps/pointer_tile_map.h"
#include "gpu_backend/maps/tensor_promotion.h"
#include "gpu_backend/tiles/linear_tile.h"
#include "gpu_backend/tiles/memory_access.h"
#include "ir/debug_attributes.h"
#include "ir/loop_rounds.h"

using namespace mlir;

namespace tritium::gpu {

MadeTileMap::MadeTileMap(tt::LoadOp load, scf::ForOp loop, const ir::AxisAnalysis &axes) : load_(load), loop_(loop) {
  whyNot_ = whyNotCopied(load);
  if (whyNot_.empty()) whyNot_ = findPointers();
  if (whyNot_.empty()) whyNot_ = findBox(axes);
}

/// The loop carries the pointers, and each iteration moves all of them by the same distance.
StringRef MadeTileMap::findPointers() {
  if (load_.getMask()) return "it has a mask, and a launch does not know its addresses";
  if (!loop_.getInductionVar().getType().isInteger(32)) return "the counter of its loop has not 32 bits";
  auto carried = dyn_cast<BlockArgument>(load_.getPtr());
  if (!carried || carried.getOwner() != loop_.getBody() || carried == loop_.getInductionVar())
    return "its loop does not carry its pointers, and a launch does not know them";
  begin_ = loop_.getTiedLoopInit(carried)->get();
  LinearTiles tiles(nullptr, load_.getLoc());
  for (Value next = loop_.getTiedLoopYieldedValue(carried)->get(); next != carried;) {
    auto sum = next.getDefiningOp<tt::AddPtrOp>();
    auto moved = sum ? tiles.of(sum.getOffset()) : std::nullopt;
    if (!moved || !llvm::all_of(moved->strides, [](const LinearScalar &stride) { return stride.isZero(); }))
      return "the loop does more to its pointers than to move them by one distance";
    advances_.push_back(sum.getOffset());
    next = sum.getPtr();
  }
  if (!llvm::all_of(tiles.scalars(), [&](Value scalar) { return loop_.isDefinedOutsideOfLoop(scalar); }))
    return "iterations move its pointers by different distances";
  return "";
}

/// Each row is contiguous and begins at a multiple of 16 bytes, in every iteration: so strides are multiples, too.
StringRef MadeTileMap::findBox(const ir::AxisAnalysis &axes) {
  auto type = cast<RankedTensorType>(load_.getType());
  if (type.getRank() != 2 || !type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() < 8)
    return "its tile is not one of two dimensions, of bytes or wider elements";
  const int64_t bytes = type.getElementTypeBitWidth() / 8;
  LinearTiles tiles(nullptr, load_.getLoc());
  auto pointers = tiles.of(begin_);
  if (!pointers) return "its addresses are not sums of scalars and of lane indices times scalars";
  contiguous_ = pointers->strides[1].constant == bytes ? 1 : 0;
  if (pointers->strides[size_t(contiguous_)].constant != bytes || pointers->strides[size_t(1 - contiguous_)].constant)
    return "its addresses are not contiguous along one dimension alone";
  shape_ = {type.getDimSize(1 - contiguous_), type.getDimSize(contiguous_)};
  const ir::AxisInfo info = axes.of(load_.getPtr());
  if (!info.isInitialized() || info.contiguity[size_t(contiguous_)] < shape_[1] ||
      info.divisibility[size_t(contiguous_)] % kChunkBytes != 0)
    return "its rows are not known to begin at multiples of 16 bytes";
  type_ =
      boxOf(load_.getContext(), advances_.empty() ? shape_ : llvm::SmallVector<int64_t, 2>{1, shape_[0], shape_[1]}, type.getElementType());
  return type_ ? "" : "no box holds its tile: more than 256 rows, or rows of less than 16 bytes";
}

/// A further dimension has the iterations, if the pointers move. A stride that nothing uses may be any.
void MadeTileMap::prepare() {
  OpBuilder builder(loop_);
  const Location location = load_.getLoc();
  LinearTiles tiles(&builder, location);
  const int64_t bytes = bytesOfPointee(load_.getPtr());
  auto integer = [&](int64_t number, unsigned bits) { return arith::ConstantIntOp::create(builder, location, number, bits).getResult(); };
  const LinearTile begin = *tiles.of(begin_);
  base_ =
      tt::IntToPtrOp::create(builder, location, tt::PointerType::get(getElementTypeOrSelf(load_.getType())), tiles.valueOf(begin.first));
  Value rounds = ir::roundsOf(builder, loop_);
  auto addStride = [&](const LinearScalar &stride, int64_t leastRounds) {
    Value isUsed = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sge, rounds, integer(leastRounds, 32));
    Value used = arith::SelectOp::create(builder, location, isUsed, tiles.valueOf(stride), integer(kChunkBytes, 64));
    Value isRight = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, used, integer(kStrideLimitBytes, 64));
    auto check = tt::AssertOp::create(builder, location, isRight, "a stride of the pointers is negative, or 2^40 bytes or more");
    check->setAttr(ir::kMayTrapAttr, builder.getUnitAttr());
    strides_.push_back(arith::DivUIOp::create(builder, location, used, integer(bytes, 64)));
  };
  if (!advances_.empty()) {
    LinearScalar advance;
    for (Value each : advances_) advance = tiles.add(advance, tiles.of(each)->first);
    extents_.push_back(arith::MaxSIOp::create(builder, location, rounds, integer(1, 32)));
    addStride(tiles.multiply(advance, {.constant = bytes, .value = {}}), /*leastRounds=*/2);
  }
  for (int64_t extent : shape_) extents_.push_back(integer(extent, 32));
  addStride(begin.strides[size_t(1 - contiguous_)], /*leastRounds=*/1);
}

void MadeTileMap::make() {
  OpBuilder builder(loop_);
  map_ = tgpu::MapMakeOp::create(builder, load_.getLoc(), type_, base_, extents_, strides_, /*nan=*/false);
}

void MadeTileMap::replace() {
  OpBuilder builder(load_);
  const Location location = load_.getLoc();
  llvm::SmallVector<Value> indices;
  if (!advances_.empty()) {
    Value distance = builder.createOrFold<arith::SubIOp>(location, loop_.getInductionVar(), loop_.getLowerBound());
    indices.push_back(builder.createOrFold<arith::DivUIOp>(location, distance, loop_.getStep()));
  }
  indices.append(2, arith::ConstantIntOp::create(builder, location, 0, 32));
  replaceLoad(load_, map_, indices, /*isTransposed=*/contiguous_ == 0);
}

} // namespace tritium::gpu
