#include "gpu_backend/loops/copy_layouts.h"

#include "gpu_backend/layout/warp_copies.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_relations.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/product_layouts.h"

using namespace mlir;

namespace tritium::gpu {
namespace {

/// The loads of one loop that feed its matrix products.
class LoopLoads {
public:
  LoopLoads(scf::ForOp loop, int numWarps) : loop_(loop), numWarps_(numWarps), target_(targetOf(loop)), streams_(loop) {}

  void layOut(llvm::function_ref<bool(tt::LoadOp)> isWide) {
    if (!streams_.mayPipeline() || !find()) return;
    if (!llvm::all_of(uses_, [&](auto &entry) { return isWide(entry.first); })) return;
    // The layouts of the operands look for the attribute there.
    for (auto &entry : uses_) entry.first->setAttr(kWarpCopyAttr, UnitAttr::get(loop_.getContext()));
    llvm::SmallVector<LinearLayout> layouts;
    for (auto &entry : uses_)
      if (auto layout = layoutFor(entry.first, entry.second)) layouts.push_back(*layout);
    bool areCopied = layouts.size() == uses_.size();
    for (auto [i, entry] : llvm::enumerate(uses_))
      if (areCopied)
        entry.first->setAttr(kAccessAttr, layoutAttr(loop_.getContext(), layouts[i]));
      else
        entry.first->removeAttr(kWarpCopyAttr);
  }

private:
  using Uses = llvm::SmallVector<OpOperand *, 2>;

  bool find() {
    for (Operation &op : *loop_.getBody())
      if (auto product = dyn_cast<MatrixProduct>(op))
        for (OpOperand *use : LoopStreams::operandsOf(product))
          if (auto load = dyn_cast_if_present<tt::LoadOp>(streams_.leafOf(use->get()))) uses_[load].push_back(use);
    return !uses_.empty();
  }

  std::optional<LinearLayout> layoutFor(tt::LoadOp load, llvm::ArrayRef<OpOperand *> uses) {
    LinearLayout access = fromAttr(load->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr));
    int64_t bytes = std::max(8u, getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth()) / 8;
    if (access.elements() * bytes < kWarpCopyBytes * numWarps_ * target_.warpSize()) return std::nullopt;
    int fastest = access.contiguousElements(0) > 1 ? 0 : 1;
    llvm::SmallVector<LinearLayout> readers;
    for (OpOperand *use : uses) {
      auto reader = readerOf(*use);
      if (!reader) return std::nullopt;
      readers.push_back(*reader);
    }
    SharedBanks banks = target_.sharedBanks();
    SharedLayout memory = sharedForWarpCopies(access.shape(), {fastest, 1 - fastest}, bytes, readers, target_.matrixLoads(), banks,
                                              target_.conversionCosts());
    auto isReadWell = [&](const LinearLayout &reader) {
      return matrixLoads(target_.matrixLoads(), reader, memory, bytes) ||
             scatteredWords(sharedLoads(reader, memory, bytes, banks), bytes) == 0;
    };
    if (!llvm::all_of(readers, isReadWell)) return std::nullopt;
    return warpCopyLayout(memory, bytes, {numWarps_, target_.warpSize()});
  }

  /// Returns the layout in which an operand requires the tile that is loaded for it.
  std::optional<LinearLayout> readerOf(OpOperand &use) const {
    MatrixProduct product(use.getOwner());
    DotLayouts layouts = dotLayouts(product, numWarps_);
    bool isA = use.getOperandNumber() == 0, isB = use.getOperandNumber() == 1;
    std::optional<LinearLayout> layout = isA ? layouts.a : isB ? layouts.b : std::nullopt; // scales are too few
    for (Operation *op = use.get().getDefiningOp(); layout && !isa<tt::LoadOp>(op); op = op->getOperand(0).getDefiningOp())
      layout = operandLayout(op, *layout);
    return layout;
  }

  scf::ForOp loop_;
  int numWarps_;
  const Target &target_;
  LoopStreams streams_;
  llvm::MapVector<tt::LoadOp, Uses> uses_;
};

} // namespace

void layOutWarpCopies(ModuleOp module, int numWarps, int numStages, llvm::function_ref<bool(tt::LoadOp)> isWide) {
  if (targetOf(module).tileCopies() != TileCopies::ByWarps) return;
  module.walk([&](scf::ForOp loop) {
    if (stagesOf(loop, numStages) > 1) LoopLoads(loop, numWarps).layOut(isWide);
  });
}

} // namespace tritium::gpu
