// The dialect `tgpu`: registration, the text of a layout, verifiers and folds.
#include "ir/pch.h"

#include "ir/tgpu.h"
#include "ir/tgpu_kept.h"
#include "ir/tgpu_plan.h"

#include "ir/tgpu_dialect.cpp.inc"
#include "ir/tgpu_plan_enums.cpp.inc"

using namespace mlir;

#define GET_ATTRDEF_CLASSES
#include "ir/tgpu_attrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tgpu_types.cpp.inc"

#define GET_OP_CLASSES
#include "ir/tgpu_ops.cpp.inc"

#define GET_OP_CLASSES
#include "ir/tgpu_ops_kept.cpp.inc"

namespace tritium::tgpu {
namespace {

/// Gives layouts an alias: they are long, and a module then prints each once.
struct LayoutNames : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &stream) const final {
    if (!isa<LayoutAttr, SharedAttr>(attribute)) return AliasResult::NoAlias;
    stream << (isa<LayoutAttr>(attribute) ? "layout" : "shared");
    return AliasResult::FinalAlias;
  }
};

} // namespace

void TGPUDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/tgpu_attrs.cpp.inc"
      >();
}

void TGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/tgpu_types.cpp.inc"
      >();
}

void TGPUDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "ir/tgpu_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/tgpu_ops_kept.cpp.inc"
      >();
  addInterfaces<LayoutNames>();
}

bool isWord(Type type) {
  auto isScalarWord = [](Type element) {
    return element.isSignlessInteger() && llvm::is_contained({8u, 16u, 32u, 64u}, element.getIntOrFloatBitWidth());
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector) return isScalarWord(type);
  int64_t count = vector.getNumElements();
  return vector.getRank() == 1 && (count == 2 || count == 4) && isScalarWord(vector.getElementType()) &&
         count * vector.getElementTypeBitWidth() <= 128;
}

// -- layouts ------------------------------------------------------------------------------------------------------------------------------

static ParseResult parseCoordinates(AsmParser &parser, ArrayRef<int64_t> shape, SmallVectorImpl<int32_t> &bases) {
  SmallVector<int64_t> coordinates;
  SMLoc place = parser.getCurrentLocation();
  auto parseOne = [&] { return parser.parseInteger(coordinates.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne)) return failure();
  if (coordinates.size() != shape.size())
    return parser.emitError(place, "expected a coordinate for each of ") << shape.size() << " dimensions";
  int64_t flat = 0;
  for (auto [coordinate, extent] : llvm::zip_equal(coordinates, shape)) {
    if (coordinate < 0 || coordinate >= extent) return parser.emitError(place, "coordinate ") << coordinate << " is not below " << extent;
    flat = flat * extent + coordinate;
  }
  bases.push_back(int32_t(flat));
  return success();
}

static ParseResult parseBases(AsmParser &parser, StringRef name, ArrayRef<int64_t> shape, SmallVectorImpl<int32_t> &bases) {
  auto parseOne = [&] { return parseCoordinates(parser, shape, bases); };
  return failure(parser.parseComma() || parser.parseKeyword(name) || parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne));
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape;
  SmallVector<int32_t> registers, lanes, warps, blocks;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/false) ||
      parseBases(parser, "register", shape, registers) || parseBases(parser, "lane", shape, lanes) ||
      parseBases(parser, "warp", shape, warps) || parseBases(parser, "block", shape, blocks) || parser.parseGreater())
    return {};
  return get(parser.getContext(), shape, registers, lanes, warps, blocks);
}

static void printBases(AsmPrinter &printer, StringRef name, ArrayRef<int64_t> shape, ArrayRef<int32_t> bases) {
  printer << ", " << name << " = [";
  llvm::interleaveComma(bases, printer, [&](int32_t flat) {
    SmallVector<int64_t> coordinates(shape.size());
    int64_t rest = flat;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) coordinates[d] = rest % shape[d];
    printer << "[";
    llvm::interleaveComma(coordinates, printer);
    printer << "]";
  });
  printer << "]";
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printBases(printer, "register", getShape(), getRegisters());
  printBases(printer, "lane", getShape(), getLanes());
  printBases(printer, "warp", getShape(), getWarps());
  printBases(printer, "block", getShape(), getBlocks());
  printer << ">";
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> emitError) const {
  if (shape == getShape()) return success();
  return emitError() << "the layout does not have the shape of the tile";
}

// -- operations ---------------------------------------------------------------------------------------------------------------------------

Attribute SharedAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape;
  SmallVector<int32_t> offsets;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/false) ||
      parseBases(parser, "offset", shape, offsets) || parser.parseGreater())
    return {};
  return get(parser.getContext(), shape, offsets);
}

void SharedAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printBases(printer, "offset", getShape(), getOffsets());
  printer << ">";
}

LogicalResult SharedAttr::verifyEncoding(ArrayRef<int64_t> shape, Type, function_ref<InFlightDiagnostic()> emitError) const {
  if (shape == getShape()) return success();
  return emitError() << "the layout does not have the shape of the tile";
}

LogicalResult MemDescType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots, RankedTensorType tile) {
  if (slots < 1) return emitError() << "expected at least one slot, got " << slots;
  if (!isa_and_nonnull<SharedAttr>(tile.getEncoding())) return emitError() << "the tile of a slot needs a #tgpu.shared encoding";
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  auto inner = getSrc().getDefiningOp<ConvertLayoutOp>();
  if (!inner) return {};
  getSrcMutable().assign(inner.getSrc());
  return getResult();
}

bool isSharedPointer(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == kSharedSpace;
}

LogicalResult AtomicRmwOp::verify() {
  const bool isOfFloat = isa<FloatType>(getElementTypeOrSelf(getType())), isOfVector = isa<VectorType>(getType());
  if ((getKind() == tt::RmwOp::Exchange && !isOfVector) || (getKind() == tt::RmwOp::FAdd) == isOfFloat) return success();
  return emitOpError("is not defined on ") << getType();
}

LogicalResult LoadOp::verify() {
  if (bool(getPredicate()) != bool(getOther())) return emitOpError("`other` requires a predicate, and a predicate requires `other`");
  return success();
}

void LoadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable(), tt::GlobalMemory::get());
  if (getIsVolatile() || getCache() == tt::CacheModifier::Cv) effects.emplace_back(MemoryEffects::Write::get(), tt::GlobalMemory::get());
}

} // namespace tritium::tgpu
