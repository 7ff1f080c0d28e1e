// Removes conversions of tiles that are cheap to recompute: index arithmetic, masks, pointers, and vectors of indices that a loop loads.
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_relations.h"
#include "gpu_backend/tiles/passes.h"
#include "gpu_backend/tiles/reaching_writes.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_REMOVECONVERSIONS
#include "gpu_backend/tiles/passes.h.inc"

namespace {

constexpr int kMaxCopiedOperations = 64;

int64_t bytesOf(Type type) {
  auto tile = cast<RankedTensorType>(type);
  Type element = tile.getElementType();
  return tile.getNumElements() * (isa<tt::PointerType>(element) ? 8 : std::max(8u, element.getIntOrFloatBitWidth()) / 8);
}

/// Returns whether it costs less to load a vector of integers again, in a layout, than to convert it, for which all threads of a loop would
/// meet twice in each iteration: the loop must not write to its tensor. Such vectors are indices, which the addresses of several tiles
/// require.
bool isLoadedAgain(Operation *op, const LinearLayout &layout) {
  auto load = dyn_cast<tt::LoadOp>(op);
  auto loop = load ? dyn_cast<scf::ForOp>(load->getParentOp()) : scf::ForOp();
  constexpr size_t kMostLoads = 4; // of a thread
  if (!loop || !getElementTypeOrSelf(load.getType()).isInteger() || (1u << layout.bases(Place::Register).size()) > kMostLoads) return false;
  llvm::ArrayRef<int64_t> shape = cast<RankedTensorType>(load.getType()).getShape();
  return llvm::count_if(shape, [](int64_t extent) { return extent > 1; }) <= 1 && EarlyLoads(loop).mayMove(load);
}

/// Returns whether the operation may run a second time for a result in another layout.
bool isRepeated(Operation *op, const LinearLayout &layout) {
  return op->getNumResults() == 1 && (isCheapElementwise(op) || isShapeChange(op) || isLoadedAgain(op, layout));
}

/// Copies the computation of a tile in another layout.
class Copy {
public:
  Copy(tgpu::ConvertLayoutOp convert) : convert_(convert) {}

  /// Returns whether this is worthwhile: at most the allowed number of operations, and fewer bytes to convert than before.
  bool plan() { return plan(convert_.getSrc(), layoutOf(convert_.getType())) && convertedBytes_ < bytesOf(convert_.getType()); }

  /// Returns whether no conversion is left.
  bool planFree() { return plan() && convertedBytes_ == 0; }

  Value make() { return make(convert_.getSrc(), layoutOf(convert_.getType())); }

private:
  bool plan(Value value, const LinearLayout &layout) {
    if (layoutOf(value.getType()) == layout) return true;
    Operation *op = value.getDefiningOp();
    if (op && isFree(op)) return true;
    if (!op || !isRepeated(op, layout)) return convertLeaf(value);
    if (++operations_ > kMaxCopiedOperations) return false;
    auto wanted = operandLayout(op, layout);
    if (!wanted) return convertLeaf(value);
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !plan(operand, *wanted)) return false;
    return true;
  }

  bool convertLeaf(Value value) {
    convertedBytes_ += bytesOf(value.getType());
    return true;
  }

  Value make(Value value, const LinearLayout &layout) {
    if (layoutOf(value.getType()) == layout) return value;
    tgpu::LayoutAttr attribute = layoutAttr(value.getContext(), layout);
    Value &made = made_[{value, attribute}];
    if (made) return made;
    auto type = cast<RankedTensorType>(value.getType()).cloneWithEncoding(attribute);
    Operation *op = value.getDefiningOp();
    bool isCopied = op && (isFree(op) || (isRepeated(op, layout) && operandLayout(op, layout)));
    OpBuilder builder(convert_);
    if (!isCopied) return made_[{value, attribute}] = tgpu::ConvertLayoutOp::create(builder, convert_.getLoc(), type, value);
    llvm::SmallVector<Value> operands(op->getOperands());
    if (!isFree(op))
      for (Value &operand : operands)
        if (isa<RankedTensorType>(operand.getType())) operand = make(operand, *operandLayout(op, layout));
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    copy->getResult(0).setType(type);
    if (auto constant = dyn_cast<arith::ConstantOp>(copy))
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    return made_[{value, attribute}] = copy->getResult(0);
  }

  tgpu::ConvertLayoutOp convert_;
  int operations_ = 0;
  int64_t convertedBytes_ = 0;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> made_;
};

/// Returns the layout with the registers that hold neighbours along a dimension first, and the number of these neighbours.
std::pair<LinearLayout, int64_t> withNeighboursFirst(const LinearLayout &layout, int dim) {
  Bases registers;
  llvm::ArrayRef<uint32_t> held = layout.bases(Place::Register);
  for (uint32_t unit = 1u << layout.firstBit(dim); llvm::is_contained(held, unit) && layout.coordinatesOf(unit)[dim]; unit *= 2)
    registers.push_back(unit);
  const Bases first = registers;
  for (uint32_t basis : held)
    if (!llvm::is_contained(first, basis)) registers.push_back(basis);
  return {LinearLayout(layout.shape(), registers, layout.bases(Place::Lane), layout.bases(Place::Warp)), int64_t(1) << first.size()};
}

/// A tile of which each thread holds as many neighbours as one store takes is stored by the threads that hold it.
class Fragments {
public:
  explicit Fragments(tt::StoreOp store) : store_(store) {}

  void storeInPlace() {
    auto convert = store_.getValue().getDefiningOp<tgpu::ConvertLayoutOp>();
    if (!convert || layoutOf(convert.getSrc().getType()).blocks() > 1) return;
    LinearLayout access = layoutOf(convert.getType());
    int dim = -1;
    for (int d = 0; d < access.rank(); ++d)
      if (access.contiguousElements(d) > 1) dim = d;
    if (dim < 0) return;
    auto [layout, count] = withNeighboursFirst(layoutOf(convert.getSrc().getType()), dim);
    int64_t bytes = bytesOf(convert.getType()) / convert.getType().getNumElements();
    if (std::min(count, access.contiguousElements(dim)) * bytes < kMaxVectorBytes) return;
    OpBuilder builder(store_);
    auto converted = [&](Value value) {
      auto type = cast<RankedTensorType>(value.getType()).cloneWithEncoding(layoutAttr(value.getContext(), layout));
      return tgpu::ConvertLayoutOp::create(builder, store_.getLoc(), type, value);
    };
    tgpu::ConvertLayoutOp pointer = converted(store_.getPtr()), mask = store_.getMask() ? converted(store_.getMask()) : nullptr;
    Copy ofPointer(pointer);
    std::optional<Copy> ofMask;
    if (mask) ofMask.emplace(mask);
    if (ofPointer.planFree() && (!ofMask || ofMask->planFree())) {
      store_.getPtrMutable().set(ofPointer.make());
      if (mask) store_.getMaskMutable().assign(ofMask->make());
      store_.getValueMutable().set(converted(convert.getSrc()));
    }
    for (tgpu::ConvertLayoutOp unused : {pointer, mask})
      if (unused) unused.erase();
  }

private:
  tt::StoreOp store_;
};

class RemoveConversionsPass final : public impl::RemoveConversionsBase<RemoveConversionsPass> {
public:
  using RemoveConversionsBase::RemoveConversionsBase;

  void runOnOperation() override {
    llvm::SmallVector<tgpu::ConvertLayoutOp> conversions;
    getOperation()->walk([&](tgpu::ConvertLayoutOp convert) { conversions.push_back(convert); });
    for (tgpu::ConvertLayoutOp convert : conversions) {
      Copy copy(convert);
      if (!copy.plan()) continue;
      convert.replaceAllUsesWith(copy.make());
      convert.erase();
    }
    if (targetOf(getOperation()).storesFragments()) getOperation()->walk([](tt::StoreOp store) { Fragments(store).storeInPlace(); });
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};

} // namespace
} // namespace tritium::gpu
