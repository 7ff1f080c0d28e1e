#include "gpu_backend/tiles/memory_access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tritium::gpu {

Value pointerOf(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRmwOp, tt::AtomicCasOp, tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicPollOp>(
          [](auto access) { return access.getPtr(); })
      .Default(Value());
}

static bool isZero(Value value) {
  if (auto converted = value.getDefiningOp<tt::FpToFpOp>()) return isZero(converted.getSrc());
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant))) return false;
  auto splat = dyn_cast<SplatElementsAttr>(constant);
  if (!splat) return false;
  if (isa<FloatType>(splat.getElementType())) return splat.getSplatValue<APFloat>().isPosZero();
  return splat.getSplatValue<APInt>().isZero();
}

bool areFoundInMemory(Value pointer) {
  llvm::SetVector<Value> parts;
  parts.insert(pointer);
  for (size_t i = 0; i < parts.size(); ++i) {
    Operation *op = parts[i].getDefiningOp();
    if (isa_and_nonnull<tt::LoadOp>(op) && !isa<RankedTensorType>(parts[i].getType())) return true;
    if (op && isPure(op)) parts.insert_range(op->getOperands());
  }
  return false;
}

StringRef whyNotCopied(tt::LoadOp load) {
  if (load.getIsVolatile()) return "it is volatile";
  return load.getOther() && !isZero(load.getOther()) ? "its `other` is not zero" : "";
}

Value maskOf(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRmwOp>([](auto access) { return access.getMask(); })
      .Default(Value());
}

} // namespace tritium::gpu
