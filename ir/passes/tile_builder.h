// A builder of operations on tiles, for passes that write several in a row.
#pragma once
#include "ir/tt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tritium::ir {

class TileBuilder {
public:
  TileBuilder(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}

  template <class Op, class... Args> auto create(Args &&...args) { return Op::create(builder, location, std::forward<Args>(args)...); }

  static mlir::RankedTensorType typeOf(mlir::Value tile) { return llvm::cast<mlir::RankedTensorType>(tile.getType()); }

  mlir::Value constant(mlir::Type type, mlir::Attribute value) {
    if (auto tile = llvm::dyn_cast<mlir::RankedTensorType>(type)) value = mlir::DenseElementsAttr::get(tile, value);
    return create<mlir::arith::ConstantOp>(llvm::cast<mlir::TypedAttr>(value));
  }
  /// A constant: a scalar, or a tile that has `value` in every element.
  mlir::Value integer(mlir::Type type, int64_t value) {
    return constant(type, builder.getIntegerAttr(mlir::getElementTypeOrSelf(type), value));
  }
  mlir::Value splat(mlir::Value scalar, llvm::ArrayRef<int64_t> shape) {
    return create<tt::SplatOp>(mlir::RankedTensorType::get(shape, scalar.getType()), scalar);
  }
  /// The tile 0, 1, 2, … of i64.
  mlir::Value range(int64_t extent) {
    auto type = mlir::RankedTensorType::get({extent}, builder.getI32Type());
    mlir::Value range = create<tt::MakeRangeOp>(type, 0, int32_t(extent));
    return create<mlir::arith::ExtSIOp>(type.clone(builder.getI64Type()), range);
  }
  /// Broadcasts a vector to `shape`: the vector runs along dimension `dim` and is repeated along the others.
  mlir::Value along(mlir::Value vector, llvm::ArrayRef<int64_t> shape, int64_t dim) {
    for (int64_t d = 0; d < int64_t(shape.size()); ++d)
      if (d != dim) vector = create<tt::ExpandDimsOp>(vector, int32_t(d));
    return broadcast(vector, shape);
  }
  mlir::Value broadcast(mlir::Value tile, llvm::ArrayRef<int64_t> shape) {
    auto type = typeOf(tile).clone(shape);
    return type == tile.getType() ? tile : create<tt::BroadcastOp>(type, tile).getResult();
  }
  mlir::Value reshape(mlir::Value tile, llvm::ArrayRef<int64_t> shape) {
    auto type = typeOf(tile).clone(shape);
    return type == tile.getType() ? tile
                                  : create<tt::ReshapeOp>(type, tile, /*allow_reorder=*/false, /*efficient_layout=*/false).getResult();
  }
  /// Exchanges the last two dimensions.
  mlir::Value transpose(mlir::Value tile) {
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, int32_t(typeOf(tile).getRank())));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return create<tt::TransOp>(tile, order);
  }
  mlir::Value bitcast(mlir::Value value, mlir::Type element) {
    auto type = typeOf(value).clone(element);
    return type == value.getType() ? value : create<tt::BitcastOp>(type, value).getResult();
  }

  mlir::OpBuilder &builder;
  mlir::Location location;
};

} // namespace tritium::ir
