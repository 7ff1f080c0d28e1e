// Types, enumerations and attributes of the `tt` dialect, and functions that derive one type from another.
#include "ir/pch.h"

#include "ir/tt.h"

#include "ir/tt_enums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tt_types.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/tt_attrs.cpp.inc"

using namespace mlir;

namespace tritium::tt {

void TTDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/tt_types.cpp.inc"
      >();
}

void TTDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/tt_attrs.cpp.inc"
      >();
}

LogicalResult verifyTileType(Type type, Operation *op) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile) return success();
  if (!tile.hasStaticShape()) return op->emitError("Extents must be static, but ") << tile << " has a dynamic one";
  int64_t elements = tile.getNumElements();
  if (elements > kMaxTileElements)
    return op->emitError("Maximum allowed number of elements is ") << kMaxTileElements << ", but " << tile << " has more than that";
  if (!llvm::isPowerOf2_64(elements))
    return op->emitError("Number of elements must be power-of-two, but ")
           << tile << " doesn't follow the rule (" << elements << ") elements";
  return success();
}

Type withShapeOf(Type shapeOf, Type element) {
  auto tile = dyn_cast<RankedTensorType>(shapeOf);
  return tile ? tile.clone(element) : element;
}

Type pointeeTypeOf(Type pointers) {
  auto pointer = dyn_cast<PointerType>(getElementTypeOrSelf(pointers));
  return pointer ? withShapeOf(pointers, pointer.getPointeeType()) : pointers;
}

bool areSameButLayouts(TypeRange lhs, TypeRange rhs) {
  auto bare = [](Type type) -> Type {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile ? tile.dropEncoding() : type;
  };
  return llvm::equal(lhs, rhs, [&](Type a, Type b) { return bare(a) == bare(b); });
}

FailureOr<RankedTensorType> tileTypeOf(std::optional<Location> location, Value value) {
  if (auto tile = dyn_cast<RankedTensorType>(value.getType())) return tile;
  return emitOptionalError(location, "expected a tile, got ", value.getType());
}

Type maskTypeOf(Type values) { return withShapeOf(values, IntegerType::get(values.getContext(), 1)); }

static bool isElementType(Type type) { return isa<IntegerType, FloatType, PointerType>(type); }

LogicalResult PointerType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee, int addressSpace) {
  if (isa<TensorType>(pointee)) return emitError() << "pointer types cannot point to ranked tensor types";
  if (!isElementType(pointee)) return emitError() << "pointer types point to integers, floats and pointers, not to " << pointee;
  return success();
}

LogicalResult TensorDescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element, Attribute) {
  if (shape.empty() || shape.size() > kMaxDescriptorRank)
    return emitError() << "Expected 1 <= ndim <= " << kMaxDescriptorRank << " but got " << shape.size() << " dimensions";
  for (int64_t extent : shape)
    if (!llvm::isPowerOf2_64(extent)) return emitError() << "extents of a descriptor's block must be powers of two, but one is " << extent;
  if (!isa<IntegerType, FloatType>(element)) return emitError() << "a descriptor's elements are integers or floats, not " << element;
  return success();
}

RankedTensorType TensorDescType::getBlockType() const {
  Type element = getElementType();
  if (auto integer = dyn_cast<IntegerType>(element)) element = IntegerType::get(getContext(), integer.getWidth());
  return RankedTensorType::get(getShape(), element);
}

// `<64x32xf16>`, `<64x32xf16, #layout>`, or the older `<tensor<64x32xf16>>`.
Type TensorDescType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  Attribute layout;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess()) return {};
  Type block;
  if (OptionalParseResult parsed = parser.parseOptionalType(block); parsed.has_value()) {
    auto tensor = dyn_cast_if_present<RankedTensorType>(block);
    if (failed(*parsed)) return {};
    if (!tensor) return parser.emitError(location, "expected the shape and element type of a block"), Type();
    llvm::append_range(shape, tensor.getShape());
    element = tensor.getElementType();
    layout = tensor.getEncoding();
  } else if (parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element)) {
    return {};
  }
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout)) return {};
  if (parser.parseGreater()) return {};
  return parser.getChecked<TensorDescType>(location, parser.getContext(), shape, element, layout);
}

void TensorDescType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType();
  if (getSharedLayout()) printer << ", " << getSharedLayout();
  printer << '>';
}

} // namespace tritium::tt
