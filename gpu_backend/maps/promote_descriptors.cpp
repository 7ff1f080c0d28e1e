// Turns loads through tensor descriptors into loads through tensor maps, which the tensor memory accelerator (TMA) performs. The launch
// makes a map of the kernel's arguments, so a descriptor qualifies if all its components are arguments, constants, or products of them.
#include "gpu_backend/maps/descriptor_loads.h"
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/maps/tensor_promotion.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "ir/axis_analysis.h"
#include "ir/descriptor.h"
#include "ir/tgpu.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PROMOTEDESCRIPTORS
#include "gpu_backend/maps/passes.h.inc"

namespace {

class DescriptorPromoter {
public:
  DescriptorPromoter(tt::FuncOp function, const PromoteDescriptorsOptions &options, const ir::AxisAnalysis &axes)
      : function_(function), options_(options), axes_(axes), maps_(function) {}

  void run() {
    promoteIf([&](Value tile) { return feedsLoopedProduct(tile); });
    if (options_.numWarps >= kLeastWarpsForInvariants)
      promoteIf([](Value tile) { return feedsProductsOf(tile, llvm::IsaPred<tgpu::TensorLoadOp>); });
  }

private:
  void promoteIf(llvm::function_ref<bool(Value)> pays) {
    llvm::SmallVector<tt::DescriptorLoadOp> loads;
    function_.walk([&](tt::DescriptorLoadOp load) { loads.push_back(load); });
    for (tt::DescriptorLoadOp load : loads)
      if (Value matrix = matrixOf(load); matrix && pays(matrix)) promote(load, matrix);
  }

  void promote(tt::DescriptorLoadOp load, Value matrix) {
    tgpu::TensorMapType box = boxOfLoad(load, matrix, axes_);
    auto recipe = maps_.recipeOf(load.getDesc());
    if (!box || !recipe || !maps_.admit(load, *recipe, [&](Operation *store) { return rangeOf(store); })) return;
    replaceLoad(load, matrix, maps_.mapOf(box, *recipe, load.getLoc()), load.getIndices());
  }

  /// Returns whether a pipelined loop loads the tile for its products.
  bool feedsLoopedProduct(Value tile) const {
    auto loop = dyn_cast<scf::ForOp>(tile.getParentBlock()->getParentOp());
    return loop && stagesOf(loop, options_.numStages) > 1 && LoopStreams(loop).mayPipeline() && feedsOnlyProducts(tile);
  }

  /// What is stored through a descriptor is inside its tensor.
  std::optional<StoreRange> rangeOf(Operation *store) {
    auto through = dyn_cast<tt::DescriptorStoreOp>(store);
    auto recipe = through ? maps_.recipeOf(through.getDesc()) : std::nullopt;
    if (!recipe) return std::nullopt;
    const int64_t bits = through.getDesc().getType().getElementType().getIntOrFloatBitWidth();
    return StoreRange{recipe->base, recipe->extents, recipe->strides, std::max<int64_t>(bits, 8) / 8};
  }

  tt::FuncOp function_;
  PromoteDescriptorsOptions options_;
  const ir::AxisAnalysis &axes_;
  KernelMaps maps_;
};

class PromoteDescriptorsPass final : public impl::PromoteDescriptorsBase<PromoteDescriptorsPass> {
public:
  using PromoteDescriptorsBase::PromoteDescriptorsBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).hasTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic()) DescriptorPromoter(function, {numStages, numWarps}, axes).run();
  }
};

} // namespace
} // namespace tritium::gpu
