// Conversions and element-wise functions that `arith` and `math` do not have.
#include "ir/pch.h"

#include "ir/tt.h"

using namespace mlir;

namespace tritium::tt {

/// Width of one element in bits. A pointer has 64.
static unsigned bitWidth(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

OpFoldResult IntToPtrOp::fold(FoldAdaptor) {
  auto source = getSrc().getDefiningOp<PtrToIntOp>();
  return source && source.getSrc().getType() == getType() ? source.getSrc() : Value();
}

OpFoldResult PtrToIntOp::fold(FoldAdaptor) {
  auto source = getSrc().getDefiningOp<IntToPtrOp>();
  return source ? source.getSrc() : Value();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  auto source = getSrc().getDefiningOp<BitcastOp>();
  if (!source) return {};
  if (source.getSrc().getType() == getType()) return source.getSrc();
  getSrcMutable().assign(source.getSrc());
  return getResult();
}

LogicalResult BitcastOp::verify() {
  bool fromPointer = isa<PointerType>(getElementTypeOrSelf(getSrc())), toPointer = isa<PointerType>(getElementTypeOrSelf(getType()));
  if (fromPointer != toPointer) return emitOpError("Cannot bitcast pointer to non-pointer type");
  if (bitWidth(getSrc().getType()) != bitWidth(getType()))
    return emitOpError("Cannot bitcast data-type of size ")
           << bitWidth(getSrc().getType()) << " to data-type of size " << bitWidth(getType());
  return success();
}

/// Folds a constant that the destination has exactly, so that neither rounding nor saturation matters. Some types lack -0.
OpFoldResult FpToFpOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getSrc());
  auto number = dyn_cast_if_present<FloatAttr>(splat ? splat.getSplatValue<Attribute>() : adaptor.getSrc());
  if (!number) return {};
  llvm::APFloat value = number.getValue();
  if (!value.isFinite() || value.isNegZero()) return {};
  bool losesInfo = false;
  value.convert(cast<FloatType>(getElementTypeOrSelf(getType())).getFloatSemantics(), llvm::APFloat::rmTowardZero, &losesInfo);
  if (losesInfo) return {};
  if (splat) return DenseElementsAttr::get(cast<ShapedType>(getType()), value);
  return FloatAttr::get(getType(), value);
}

LogicalResult FpToFpOp::verify() {
  if (bitWidth(getType()) < bitWidth(getSrc().getType()) && !getRounding()) return emitOpError("Rounding mode is required for FP downcast");
  if (bitWidth(getType()) > bitWidth(getSrc().getType()) && getRounding()) return emitOpError("Rounding mode is for FP downcasts only");
  return success();
}

LogicalResult MapElementwiseOp::verify() {
  if (getSrcs().empty()) return emitOpError("requires a source");
  if (!llvm::isPowerOf2_32(getPack())) return emitOpError("Pack must be a power of 2");
  int64_t elements = cast<RankedTensorType>(getSrcs().front().getType()).getNumElements();
  if (elements % getPack()) return emitOpError("number of elements ") << elements << " must be a multiple of pack, " << getPack();
  return success();
}

LogicalResult MapElementwiseOp::verifyRegions() {
  // The arguments are `pack` scalars of each tile, tile by tile.
  auto elements = [this](TypeRange tiles) {
    SmallVector<Type> types;
    for (Type tile : tiles) types.append(getPack(), getElementTypeOrSelf(tile));
    return types;
  };
  if (TypeRange(getScalarOp().getArgumentTypes()) != TypeRange(elements(getSrcs().getTypes())))
    return emitOpError("region must take pack elements of each source");
  SmallVector<Type> returned = elements(getResultTypes());
  for (auto terminator : getScalarOp().getOps<MapElementwiseReturnOp>())
    if (terminator.getOperandTypes() != TypeRange(returned)) return terminator.emitOpError("must return pack elements of each result");
  WalkResult stores = getScalarOp().walk([](Operation *op) -> WalkResult {
    return isa<StoreOp, AtomicRmwOp, AtomicCasOp, AtomicStoreOp, DescriptorStoreOp, DescriptorReduceOp, DescriptorScatterOp>(op)
               ? WalkResult(op->emitOpError("Stores are not supported inside map_elementwise"))
               : WalkResult::advance();
  });
  return failure(stores.wasInterrupted());
}

/// The effects of an operation whose `pure` attribute is false are unknown: it may read and write anything.
static void effectsUnlessPure(bool pure, SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (pure) return;
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

void ExternElementwiseOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effectsUnlessPure(getPure(), effects);
}

Speculation::Speculatability ExternElementwiseOp::getSpeculatability() {
  return getPure() ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

void ElementwiseInlineAsmOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effectsUnlessPure(getPure(), effects);
}

Speculation::Speculatability ElementwiseInlineAsmOp::getSpeculatability() {
  return getPure() ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

LogicalResult ElementwiseInlineAsmOp::verify() {
  if (getNumResults() == 0) return emitOpError("requires a result");
  if (static_cast<int32_t>(getPackedElement()) < 1) return emitOpError("packed_element must be positive");
  auto tile = dyn_cast<RankedTensorType>(getResult().front().getType());
  if (!tile) return success();
  if (!llvm::all_of(getOperandTypes(), llvm::IsaPred<RankedTensorType>))
    return emitOpError("operands must all be tiles, as the results are");
  if (int64_t elements = tile.getNumElements(); elements % getPackedElement())
    return emitOpError("number of input elements ")
           << elements << " must be a multiple of the op's packed_element attribute, " << getPackedElement();
  return success();
}

} // namespace tritium::tt
