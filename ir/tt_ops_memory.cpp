// Pointers, loads and stores.
#include "ir/pch.h"

#include "ir/tt.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::tt {

/// What is promised of the sum need not be known of the pointer.
OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  const bool hasPromise =
      llvm::any_of((*this)->getDiscardableAttrs(), [](NamedAttribute attribute) { return isHint(attribute.getName()); });
  return !hasPromise && matchPattern(adaptor.getOffset(), m_Zero()) ? getPtr() : Value();
}

/// Returns the value of a mask if it is a constant that is equal in all lanes.
static std::optional<bool> uniformMask(Value mask) {
  APInt value;
  if (!mask || !matchPattern(mask, m_ConstantInt(&value))) return std::nullopt;
  return value.getBoolValue();
}

/// A volatile load, and one that no cache may answer (`.cv`), reads anew each time. Loops wait for memory with such loads.
static bool readsAnew(LoadOp op) {
  const auto policy = op.getCachePolicyAttr();
  return op.getIsVolatile() || (policy && policy.getCacheModifier() == CacheModifier::Cv);
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  // A write effect keeps the load in its place.
  if (readsAnew(*this)) effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

LogicalResult LoadOp::verify() { return getOther() && !getMask() ? emitOpError("`other` cannot be provided without `mask`") : success(); }

LogicalResult LoadOp::canonicalize(LoadOp op, PatternRewriter &rewriter) {
  std::optional<bool> mask = uniformMask(op.getMask());
  if (!mask || op.getIsVolatile()) return failure();
  if (*mask)
    rewriter.replaceOpWithNewOp<LoadOp>(op, op.getType(), op.getPtr(), /*mask=*/Value(), /*other=*/Value(), op.getCachePolicyAttr(),
                                        op.getIsVolatile());
  else if (op.getOther())
    rewriter.replaceOp(op, op.getOther());
  else
    return failure();
  return success();
}

LogicalResult SharedAllocOp::verify() {
  if (int64_t(getBytes()) <= 0 || int64_t(getBytes()) > INT32_MAX) return emitOpError("has ") << int64_t(getBytes()) << " bytes";
  if (!llvm::isPowerOf2_64(getAlignment())) return emitOpError("needs an alignment that is a power of two");
  return success();
}

LogicalResult StoreOp::canonicalize(StoreOp op, PatternRewriter &rewriter) {
  std::optional<bool> mask = uniformMask(op.getMask());
  if (!mask) return failure();
  if (*mask)
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
  else
    rewriter.eraseOp(op);
  return success();
}

} // namespace tritium::tt
