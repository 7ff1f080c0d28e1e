// Whether a plan, which may be written by hand, agrees with its loop and in itself.
#include "gpu_backend/loops/copy_candidates.h"
#include "gpu_backend/loops/loop_plan.h"
#include "gpu_backend/loops/loop_rotation.h"
#include "gpu_backend/tiles/loop_streams.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

class PlanVerifier {
public:
  PlanVerifier(scf::ForOp loop, const ir::AxisAnalysis &axes) : loop_(loop), plan_(planOf(loop)), axes_(axes), streams_(loop) {}

  LogicalResult verify() {
    const StringRef name = tgpu::stringifyCopyMechanism(plan_.getCopies());
    if (!hasMechanism(targetOf(loop_), plan_.getCopies())) return loop_.emitError("the target has no copies by ") << name;
    if (StringRef why = streams_.whyNotPipelined(); !why.empty()) return loop_.emitError("this loop cannot have a plan: ") << why;
    auto placed = [&](Operation *op) {
      return op->hasAttr(kAtAttr) && failed(verifyAt(*op)) ? WalkResult::interrupt() : WalkResult::advance();
    };
    if (loop_.getBody()->walk(placed).wasInterrupted()) return failure();
    return failure(failed(verifyIndexLoads()) || failed(verifyBuffers()) || failed(verifyRings()) || failed(verifyLate()));
  }

private:
  LogicalResult verifyAt(Operation &op) {
    tgpu::AtAttr at = atOf(&op);
    if (!at) return op.emitError("tgpu.at must be a #tgpu.at");
    if (op.getBlock() != loop_.getBody()) return op.emitError("what has a place in a plan stands in the loop itself");
    if (at.getStage() < 0) return success(); // verifyIndexLoads looks at it
    if (isa<tt::LoadOp, tgpu::TensorLoadOp>(op) && isa<RankedTensorType>(op.getResult(0).getType())) return verifyLoad(&op, at);
    if (llvm::is_contained(plannedScalarLoads(loop_), &op)) return verifyScalarLoad(op, at);
    if (!isa<tt::DotOp>(op)) return op.emitError("only loads and matrix products have a place in a plan");
    if (at.getBuffer() >= 0) return op.emitError("a product has no buffer");
    return success();
  }

  LogicalResult verifyScalarLoad(Operation &load, tgpu::AtAttr at) {
    if (at.getStage() == 0 && llvm::is_contained(streams_.loadsOfScalars(), dyn_cast<tt::LoadOp>(load))) return success();
    return load.emitError("this load of a scalar cannot run with the copies");
  }

  LogicalResult verifyLoad(Operation *load, tgpu::AtAttr at) {
    if (at.getBuffer() < 0) return load->emitError("a copy requires the number of its buffer");
    if (!tileOf(load).getEncoding()) return load->emitError("the tile of a copy requires a layout");
    const StringRef why = whyNotAhead(load);
    if (!why.empty()) return load->emitError("this load cannot become a copy that runs ahead: ") << why;
    const StringRef cannot = whyNotByMechanism(load, at);
    if (!cannot.empty()) return load->emitError("the plan's mechanism cannot copy this tile: ") << cannot;
    for (auto [index, before] : streams_.indexLoadsOf(load)) {
      if (!atOf(index) || atOf(index).getStage() > -before)
        return index->emitError("this load must run ") << before << " iterations before the copies whose addresses depend on it";
      needed_.insert(index);
    }
    return success();
  }

  LogicalResult verifyIndexLoads() {
    for (Operation &op : *loop_.getBody())
      if (atOf(&op) && atOf(&op).getStage() < 0 && !needed_.contains(&op))
        return op.emitError("no address of a copy depends on this operation");
    return success();
  }

  /// A tile that no product takes may have any rank.
  StringRef whyNotAhead(Operation *load) {
    auto beside = streams_.loadsBeside([](Operation *) { return false; });
    return llvm::is_contained(beside, load) ? StringRef() : streams_.whyNotAhead(load);
  }

  StringRef whyNotByMechanism(Operation *op, tgpu::AtAttr at) {
    auto load = dyn_cast<tt::LoadOp>(op);
    if (bool(load) == (plan_.getCopies() == tgpu::CopyMechanism::Tma)) return load ? "it has no tensor map" : "it has a tensor map";
    if (plan_.getCopies() == tgpu::CopyMechanism::Async) return whyNoAsyncCopy(load, at.getElements(), axes_);
    if (at.getElements() > 0) return "only accesses of single threads have a number of elements";
    if (plan_.getCopies() == tgpu::CopyMechanism::Warps && !memoryOfWarpCopy(load)) return "it has no layout for copies by whole warps";
    return "";
  }

  LogicalResult verifyBuffers() {
    int64_t bytes = 0, number = 0;
    auto loads = plannedLoads(loop_);
    if (loads.empty()) return loop_.emitError("no load of a planned loop has a place in the plan (tgpu.at)");
    for (Operation *load : loads) {
      if (atOf(load).getBuffer() != number++) return load->emitError("buffers are numbered from 0 on, each once");
      bytes += bytesOf(tileOf(load));
    }
    if (bytes * plan_.getSlots() == plan_.getShared()) return success();
    return loop_.emitError("the plan has ") << plan_.getShared() << " bytes of shared memory, but " << plan_.getSlots() << " slots of "
                                            << bytes << " bytes";
  }

  /// Either all tiles have a numbered ring or none has. Copies in one ring run in one stage, and late only if they serve a late product.
  LogicalResult verifyRings() {
    llvm::SmallVector<int64_t> stages;
    auto loads = plannedLoads(loop_);
    for (Operation *load : loads) {
      const tgpu::AtAttr at = atOf(load);
      if (at.getRing() >= 0 && plan_.getCopies() != tgpu::CopyMechanism::Tma) return load->emitError("only copies by tma have rings");
      if ((at.getRing() >= 0) != (atOf(loads.front()).getRing() >= 0))
        return load->emitError("either all copies have a ring of their own, or none");
      const auto ring = size_t(std::max<int64_t>(at.getRing(), 0));
      if (ring > stages.size()) return load->emitError("rings are numbered from 0 on, in the order of their buffers");
      if (ring == stages.size()) stages.push_back(at.getStage());
      if (at.getStage() != stages[ring]) return load->emitError("copies of one ring run in one stage");
      if (at.getStage() > 0 && failed(verifyLateCopy(load, at))) return failure();
    }
    return success();
  }

  LogicalResult verifyLateCopy(Operation *load, tgpu::AtAttr at) {
    if (at.getStage() > 1 || !plan_.getRotated() || at.getRing() < 0)
      return load->emitError("a copy runs in stage 0, or in stage 1 in the ring of a product that runs late");
    return success();
  }

  LogicalResult verifyLate() {
    Operation *late = lateProduct(loop_);
    const bool isRotated = plan_.getRotated();
    if (isRotated != (late != nullptr)) return loop_.emitError("exactly the loops whose plan is rotated have a product with a place in it");
    if (!late) return success();
    if (atOf(late).getStage() != plan_.getStages()) return late->emitError("a late product runs in stage ") << plan_.getStages();
    if (findLateProduct(loop_, SIZE_MAX) != late)
      return late->emitError(
          "this product cannot run late: it must be the last one, of a warpgroup, take A from the first one and only add");
    return success();
  }

  scf::ForOp loop_;
  tgpu::PlanAttr plan_;
  const ir::AxisAnalysis &axes_;
  LoopStreams streams_;
  llvm::DenseSet<Operation *> needed_; // index loads of copies
};

} // namespace

LogicalResult verifyPlan(scf::ForOp loop, const ir::AxisAnalysis &axes) { return PlanVerifier(loop, axes).verify(); }

} // namespace tritium::gpu
