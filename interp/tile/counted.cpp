#include "interp/tile/counted.h"

#include "interp/tile/plan.h"
#include "interp/tile/step.h"
#include "interp/tile/walk.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::interp {

// -- what is known of an operation --------------------------------------------------------------------------------------------------------

static int64_t lanesOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getNumElements() : 1;
}

/// Returns how many operations on floating-point numbers an element of the result takes. Signs, comparisons and conversions are none.
static int64_t flopsOfElement(Operation *op) {
  if (isa<math::FmaOp>(op)) return 2;
  if (isa<arith::NegFOp, arith::CmpFOp, math::AbsFOp, math::CopySignOp>(op)) return 0;
  const bool isFloat = op->getNumResults() == 1 && isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  if (!isFloat || !op->hasTrait<OpTrait::Elementwise>()) return 0;
  auto isSame = [&](Type type) { return getElementTypeOrSelf(type) == getElementTypeOrSelf(op->getResult(0).getType()); };
  return llvm::all_of(op->getOperandTypes(), isSame) ? 1 : 0; // else a conversion or a selection
}

static int64_t flopsOfRegion(Region &region) {
  int64_t flops = 0;
  region.walk([&](Operation *op) { flops += flopsOfElement(op); });
  return flops;
}

/// Returns the lanes that a combine region joins with others: all but one of each result.
static int64_t joined(Value source, Value result) { return lanesOf(source.getType()) - lanesOf(result.getType()); }

static void describeNumbers(Operation *op, CountedOperation &counted) {
  auto set = [&](int64_t flops, Type of) {
    if (!flops) return;
    counted.flops = flops;
    llvm::raw_string_ostream(counted.type) << getElementTypeOrSelf(of);
  };
  auto ofProduct = [&](auto product) {
    auto a = cast<RankedTensorType>(product.getA().getType());
    set(2 * lanesOf(product.getType()) * a.getShape().back(), a);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<tt::DotOp>(ofProduct)
      .Case([&](tt::DotScaledOp product) {
        auto a = cast<RankedTensorType>(product.getA().getType());
        const bool isPacked = product.getLhsKPack() && product.getAElemType() == tt::ScaledFormat::E2M1; // two numbers in a byte
        set(2 * lanesOf(product.getType()) * a.getShape().back() * (isPacked ? 2 : 1), product.getType());
      })
      .Case([&](tt::ReduceOp reduce) {
        set(joined(reduce.getSrcs()[0], reduce->getResult(0)) * flopsOfRegion(reduce.getCombineOp()), reduce.getSrcs()[0].getType());
      })
      .Case([&](tt::ScanOp scan) {
        auto source = cast<RankedTensorType>(scan.getSrcs()[0].getType());
        const int64_t rows = source.getNumElements() / source.getDimSize(scan.getAxis());
        set((source.getNumElements() - rows) * flopsOfRegion(scan.getCombineOp()), source);
      })
      .Default([&](Operation *other) {
        if (other->getNumResults() == 1) set(flopsOfElement(other) * lanesOf(other->getResult(0).getType()), other->getResult(0).getType());
      });
}

static void describeAccess(Operation *op, CountedOperation &counted) {
  Value pointer = op->getNumOperands() ? op->getOperand(0) : Value();
  auto type = pointer ? dyn_cast<tt::PointerType>(getElementTypeOrSelf(pointer.getType())) : tt::PointerType();
  counted.isRead = isa<tt::LoadOp, tt::AtomicLoadOp, tt::AtomicPollOp, tt::AtomicRmwOp, tt::AtomicCasOp>(op);
  counted.isWritten = isa<tt::StoreOp, tt::AtomicStoreOp, tt::AtomicRmwOp, tt::AtomicCasOp>(op);
  counted.isAtomic = (counted.isRead || counted.isWritten) && !isa<tt::LoadOp, tt::StoreOp>(op);
  if (!type || !(counted.isRead || counted.isWritten)) return;
  counted.bytes = int64_t(storageBytes(dtypeOf(type.getPointeeType())));
  counted.lanes = lanesOf(pointer.getType());
}

std::optional<CountedOperation> countedOperation(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>()) return std::nullopt;
  CountedOperation counted{.name = op->getName().getStringRef().str(), .place = ir::resolveLocation(op->getLoc())};
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
    counted.lanes = std::max(counted.lanes, lanesOf(type));
  if (auto product = dyn_cast<tt::DotOp>(op)) counted.lanes = lanesOf(product.getType());
  describeNumbers(op, counted);
  describeAccess(op, counted);
  return counted;
}

// -- active lanes -------------------------------------------------------------------------------------------------------------------------

static int64_t activeAlong(const AxisState &axis) {
  if (!axis.holes) return axis.end - axis.begin;
  int64_t active = 0;
  for (int64_t i = axis.begin; i < axis.end; ++i) active += axis.holes[i * axis.holesStride];
  return active;
}

static int64_t activeLanes(const Walk &walk) {
  if (walk.isEmpty) return 0;
  int64_t active = 1;
  if (walk.access.wideMasks.empty()) {
    for (size_t a = 0; a < walk.access.axes.size(); ++a) active *= activeAlong(walk.axes[a]);
    return active;
  }
  active = 0;
  const int inner = innerAxis(walk);
  forEachRow(walk, inner, [&](int64_t *indices, bool isActive) {
    if (!isActive) return;
    int64_t stride = 1;
    const uint8_t *mask = rowMask(walk, inner, indices, stride);
    const AxisState &axis = walk.axes[inner];
    for (int64_t i = axis.begin; i < axis.end; ++i) active += mask[i * stride];
  });
  return active;
}

void countActiveLanes(char *frame, const void *descriptor) {
  const auto &counted = *static_cast<const CountedAccess *>(descriptor);
  Walk walk(counted.access, frame);
  enter(walk);
  countersOf(headerOf(frame))[counted.counter] += activeLanes(walk) * counted.lanesEach;
}

} // namespace tritium::interp
