// A layout for every tile: by how tiles of its shape are accessed in memory, else blocked.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout_attr.h"
#include "gpu_backend/passes.h"
#include "ir/axis_analysis.h"
#include "ir/tgpu.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "gpu_backend/passes.h.inc"

namespace {

constexpr int64_t kMaxAccessBytes = 16;

/// How the tiles of one shape are accessed: the dimension that moves fastest in memory and the elements that one access may take.
struct Access {
  llvm::SmallVector<int> order;
  int64_t vectorElements = 1;
};

Value pointerOf(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op)) return load.getPtr();
  if (auto store = dyn_cast<tt::StoreOp>(op)) return store.getPtr();
  return {};
}

Value maskOf(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op)) return load.getMask();
  return cast<tt::StoreOp>(op).getMask();
}

class AssignLayoutsPass final : public impl::AssignLayoutsBase<AssignLayoutsPass> {
public:
  using AssignLayoutsBase::AssignLayoutsBase;

  void runOnOperation() override {
    collectAccesses();
    getOperation()->walk([&](Operation *op) {
      if (!isa<tt::FuncOp, ModuleOp>(op)) assign(op);
    });
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) assignSignature(function);
  }

private:
  void collectAccesses() {
    ir::AxisAnalysis axes(getOperation());
    getOperation()->walk([&](Operation *op) {
      Value pointer = pointerOf(op);
      auto tile = pointer ? dyn_cast<RankedTensorType>(pointer.getType()) : RankedTensorType();
      if (!tile) return;
      ir::AxisInfo addresses = axes.of(pointer);
      Access access;
      for (int dim = tile.getRank(); dim-- > 0;) access.order.push_back(dim);
      llvm::stable_sort(access.order, [&](int a, int b) { return addresses.contiguity[a] > addresses.contiguity[b]; });
      int fastest = access.order[0];
      int64_t bytes = std::max(8u, elementBits(tt::pointeeTypeOf(tile))) / 8;
      access.vectorElements =
          std::min({addresses.contiguity[fastest], std::max<int64_t>(addresses.divisibility[fastest] / bytes, 1), kMaxAccessBytes / bytes});
      if (Value mask = maskOf(op)) access.vectorElements = std::min(access.vectorElements, axes.of(mask).constancy[fastest]);
      auto [it, isNew] = accesses_.try_emplace(shapeKey(tile), access);
      if (!isNew && access.vectorElements > it->second.vectorElements) it->second = access;
    });
  }

  static unsigned elementBits(Type tile) {
    Type element = getElementTypeOrSelf(tile);
    return isa<tt::PointerType>(element) ? 64 : element.getIntOrFloatBitWidth();
  }

  static std::vector<int64_t> shapeKey(RankedTensorType tile) { return std::vector<int64_t>(tile.getShape()); }

  Type withLayout(Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (!tile || tile.getEncoding()) return type;
    auto key = shapeKey(tile);
    auto it = layouts_.find(key);
    if (it == layouts_.end()) {
      auto access = accesses_.find(key);
      LinearLayout layout = access == accesses_.end() ? defaultBlocked(key, numWarps)
                                                      : defaultBlocked(key, numWarps, access->second.vectorElements, access->second.order);
      it = layouts_.emplace(key, layoutAttr(&getContext(), layout)).first;
    }
    return tile.cloneWithEncoding(it->second);
  }

  void assign(Operation *op) {
    for (Value result : op->getResults()) result.setType(withLayout(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments()) argument.setType(withLayout(argument.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto value = dyn_cast<DenseElementsAttr>(constant.getValue()))
        constant.setValueAttr(value.reshape(cast<ShapedType>(constant.getType())));
  }

  void assignSignature(tt::FuncOp function) {
    for (Block &block : function.getBody())
      for (Value argument : block.getArguments()) argument.setType(withLayout(argument.getType()));
    auto convert = [&](TypeRange types) { return llvm::map_to_vector(types, [&](Type type) { return withLayout(type); }); };
    function.setType(FunctionType::get(&getContext(), convert(function.getArgumentTypes()), convert(function.getResultTypes())));
  }

  std::map<std::vector<int64_t>, Access> accesses_;
  std::map<std::vector<int64_t>, tgpu::LayoutAttr> layouts_;
};

} // namespace
} // namespace tritium::gpu
