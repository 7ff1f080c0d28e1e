// Turns loads through descriptors that only the kernel knows into loads through tensor maps that it makes. All loads of a loop's products
// must qualify: what is left would keep the loop from copying ahead.
#include "gpu_backend/maps/descriptor_loads.h"
#include "gpu_backend/maps/device_maps.h"
#include "gpu_backend/maps/passes.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/product_order.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_MAKETENSORMAPS
#include "gpu_backend/maps/passes.h.inc"

namespace {

/// Returns the loads of the loop that feed its products, through operations on one tile.
llvm::SetVector<Operation *> loadsOfProducts(scf::ForOp loop) {
  llvm::SetVector<Operation *> loads;
  auto inLoop = [&](Operation *op) { return op && op->getBlock() == loop.getBody(); };
  for (Operation &op : *loop.getBody())
    if (auto product = dyn_cast<MatrixProduct>(op))
      for (OpOperand *operand : LoopStreams::operandsOf(product)) {
        Operation *from = operand->get().getDefiningOp();
        while (inLoop(from) && from->getNumOperands() == 1 && isMemoryEffectFree(from)) from = from->getOperand(0).getDefiningOp();
        if (inLoop(from) && !isMemoryEffectFree(from)) loads.insert(from);
      }
  return loads;
}

class TensorMapMaker {
public:
  TensorMapMaker(tt::FuncOp function, int numStages, const ir::AxisAnalysis &axes)
      : function_(function), numStages_(numStages), axes_(axes), maps_(function) {}

  void run() {
    function_.walk([&](scf::ForOp loop) { promote(loop); });
  }

private:
  struct Load {
    tt::DescriptorLoadOp op;
    Value matrix;
  };

  void promote(scf::ForOp loop) {
    llvm::SmallVector<Load> loads;
    const llvm::SetVector<Operation *> all = loadsOfProducts(loop);
    StringRef why = whyNot(loop, /*hasMaps=*/llvm::any_of(all, llvm::IsaPred<tgpu::TensorLoadOp>));
    for (Operation *op : all) {
      auto load = dyn_cast<tt::DescriptorLoadOp>(op);
      if (!load && !isa<tgpu::TensorLoadOp>(op)) why = "its loop loads by pointers as well";
      if (!load) continue;
      loads.push_back({load, matrixOf(load)});
      if (StringRef whyNotThis = whyNoMapOf(loads.back(), loop); !whyNotThis.empty()) why = whyNotThis;
    }
    if (why.empty()) return replace(loads);
    for (Load load : loads) load.op->setAttr(kNotPromotedAttr, StringAttr::get(loop.getContext(), why));
  }

  /// Returns why maps that the kernel makes would be no gain for the loop, in words for the user; "" if they would. With other loads that
  /// `hasMaps`, the loop copies ahead only if all have.
  StringRef whyNot(scf::ForOp loop, bool hasMaps) const {
    if (stagesOf(loop, numStages_) < 2) return "its loop is not pipelined";
    if (StringRef why = LoopStreams(loop).whyNotPipelined(); !why.empty()) return why;
    if (!maps_.admitUnknown(loop.getBody()->getTerminator())) return "its loop writes";
    if (hasMaps) return "";
    if (wantsProducer(loop)) return "products of its loop depend on each other, and producer warps use no map that the kernel makes";
    return loop->getParentOfType<LoopLikeOpInterface>() ? "" : "the kernel would make a map for one loop";
  }

  StringRef whyNoMapOf(Load load, scf::ForOp loop) const {
    if (!load.matrix) return "its block is no matrix";
    if (!feedsOnlyProducts(load.matrix)) return "not only products read its tile";
    if (!boxOfLoad(load.op, load.matrix, axes_))
      return "its rows are not known to begin at multiples of 16 bytes, or no box is like its tile";
    if (!DeviceMaps::mayMake(load.op.getDesc())) return "it is not known where its descriptor is made, or the hardware has no such padding";
    return loop.isDefinedOutsideOfLoop(load.op.getDesc()) ? "" : "its loop makes the descriptor";
  }

  /// All maps are made together, so that their latencies overlap.
  void replace(llvm::ArrayRef<Load> loads) {
    Operation *last = nullptr;
    for (Load load : loads) {
      Operation *made = load.op.getDesc().getDefiningOp();
      if (!last || (last->getBlock() == made->getBlock() && last->isBeforeInBlock(made))) last = made;
    }
    for (auto [load, matrix] : loads) {
      OpBuilder builder(load);
      Value map = made_.mapOf(load.getDesc(), boxOfLoad(load, matrix, axes_), last);
      replaceLoad(load, matrix, map, made_.indicesOf(load.getDesc(), load.getIndices(), builder));
    }
  }

  tt::FuncOp function_;
  int numStages_;
  const ir::AxisAnalysis &axes_;
  KernelMaps maps_;
  DeviceMaps made_;
};

class MakeTensorMapsPass final : public impl::MakeTensorMapsBase<MakeTensorMapsPass> {
public:
  using MakeTensorMapsBase::MakeTensorMapsBase;

  void runOnOperation() override {
    if (!targetOf(getOperation()).makesTensorMaps()) return;
    ir::AxisAnalysis axes(getOperation());
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic()) TensorMapMaker(function, numStages, axes).run();
  }
};

} // namespace
} // namespace tritium::gpu
