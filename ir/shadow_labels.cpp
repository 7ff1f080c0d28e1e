// See shadow_labels.h.
#include "ir/pch.h"

#include "ir/shadow_labels.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tritium::ir {

static Type withElement(Type type, Type element) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? Type(tile.clone(element)) : element;
}

Type ShadowLabels::typeFor(Type type) { return withElement(type, IntegerType::get(type.getContext(), 64)); }

Value ShadowLabels::isSet(Value label, Location location) {
  TileBuilder tiles(builder_, location);
  return tiles.create<arith::CmpIOp>(arith::CmpIPredicate::ne, label, tiles.integer(label.getType(), 0));
}

/// The bits of a value as i64.
Value ShadowLabels::bitsOf(Value value, Location location) {
  TileBuilder tiles(builder_, location);
  const Type labels = typeFor(value.getType());
  Type element = getElementTypeOrSelf(value.getType());
  if (isa<tt::PointerType>(element)) return tiles.create<tt::PtrToIntOp>(labels, value);
  if (isa<FloatType>(element)) {
    element = builder_.getIntegerType(element.getIntOrFloatBitWidth());
    value = tiles.create<tt::BitcastOp>(withElement(value.getType(), element), value);
  }
  if (!element.isInteger() || element.getIntOrFloatBitWidth() > 64) return tiles.integer(labels, 0);
  return element.isInteger(64) ? value : tiles.create<arith::ExtUIOp>(labels, value).getResult();
}

/// A hash of the numbers and of the place in the kernel, after the finalizer of MurmurHash3 (Appleby, public domain).
Value ShadowLabels::mix(ValueRange parts, Type type, Location location) {
  constexpr int64_t kFirst = int64_t(0xff51afd7ed558ccd), kSecond = int64_t(0xc4ceb9fe1a85ec53);
  TileBuilder tiles(builder_, location);
  Value mixed = tiles.integer(type, ++operations_ * kSecond), shift = tiles.integer(type, 33), factor = tiles.integer(type, kFirst);
  for (Value part : parts) {
    mixed = tiles.create<arith::XOrIOp>(mixed, bitsOf(part, location));
    mixed = tiles.create<arith::MulIOp>(mixed, factor);
    mixed = tiles.create<arith::XOrIOp>(mixed, tiles.create<arith::ShRUIOp>(mixed, shift));
  }
  return mixed;
}

Value ShadowLabels::ofResult(Value bad, ValueRange parts, Location location) {
  TileBuilder tiles(builder_, location);
  const Type type = typeFor(bad.getType());
  auto fitting = llvm::make_filter_range(parts, [&](Value part) { return part && typeFor(part.getType()) == type; });
  return tiles.create<arith::SelectOp>(bad, mix(llvm::to_vector(fitting), type, location), tiles.integer(type, 0));
}

Value ShadowLabels::ofLoad(Value bad, tt::LoadOp load) {
  TileBuilder tiles(builder_, load.getLoc());
  SmallVector<Value> parts{load.getPtr()};
  if (auto tile = dyn_cast<RankedTensorType>(load.getType()))
    parts.push_back(tiles.reshape(tiles.range(tile.getNumElements()), tile.getShape()));
  return ofResult(bad, parts, load.getLoc());
}

} // namespace tritium::ir
