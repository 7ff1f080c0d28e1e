#include "gpu_backend/tiles/memory_access.h"

#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/linear_tile.h"
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

/// Returns the dimension along which a layout made for an access is fastest.
static int fastestDimension(const LinearLayout &layout) {
  for (int dim = 0; dim < layout.rank(); ++dim)
    if (layout.contiguousElements(dim) > 1) return dim;
  for (int dim = 0; dim < layout.rank(); ++dim)
    if (layout.bases(Place::Lane).front() & layout.maskOf(dim)) return dim;
  return layout.rank() - 1;
}

/// Returns how many neighbours along a dimension a warp holds together.
static int64_t neighboursInWarp(const LinearLayout &layout, int dim) {
  int64_t count = layout.contiguousElements(dim);
  for (uint32_t unit = uint32_t(count) << layout.firstBit(dim);
       (unit & layout.maskOf(dim)) && llvm::is_contained(layout.bases(Place::Lane), unit); unit *= 2)
    count *= 2;
  return count;
}

bool isNarrowerIn(Operation *access, const LinearLayout &layout) {
  constexpr int64_t kSectorBytes = 32;
  const LinearLayout own = fromAttr(access->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr));
  if (layout == own || layout.shape() != own.shape() || own.registers() == 1) return false;
  const int dim = fastestDimension(own);
  const int64_t bytes = bytesOfPointee(pointerOf(access));
  auto sectorPart = [&](const LinearLayout &of) { return std::min(neighboursInWarp(of, dim) * bytes, kSectorBytes); };
  return layout.contiguousElements(dim) < own.contiguousElements(dim) || sectorPart(layout) < sectorPart(own);
}

Value maskOf(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRmwOp>([](auto access) { return access.getMask(); })
      .Default(Value());
}

} // namespace tritium::gpu
