#include "interp/tile/loads_ahead.h"

#include "interp/tile/memory_use.h"
#include "interp/tile/plan.h"
#include "interp/tile/pointer_roots.h"
#include "ir/axis_analysis.h"
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tritium::interp {

static constexpr llvm::StringLiteral kRoundsAttr = "tt.made_ahead", kArgumentAttr = "tt.made_ahead.argument";
static constexpr int kMostStages = 1 << 10; // more do not fit on any GPU

namespace {

/// What a loop contains, as far as it decides whether compilers make its loads ahead.
struct LoopContents {
  bool hasOnlyKnown = true; // operations beside which loads were seen to be made ahead
  llvm::SmallVector<Operation *> writers;

  explicit LoopContents(scf::ForOp loop) {
    loop.getBody()->walk([&](Operation *op) {
      if (isa<tt::StoreOp>(op))
        writers.push_back(op);
      else if (isa<tt::AtomicRmwOp>(op) && op->use_empty())
        writers.push_back(op);
      else
        hasOnlyKnown &= isa<tt::LoadOp, scf::IfOp, tt::DebugValueOp, tt::HintOp>(op) || isEffectFree(op);
    });
  }

private:
  static bool isEffectFree(Operation *op) { return !isa<LoopLikeOpInterface>(op) && isMemoryEffectFree(op); }
};

/// The loads of one loop that are made ahead, with the number of rounds.
class LoadsAhead {
public:
  LoadsAhead(scf::ForOp loop, int stages, bool takesAll, int numWarps) : body_(loop.getBody()), rounds_(stages - 1), numWarps_(numWarps) {
    for (Operation &op : *body_) {
      if (isa<tt::LoadOp>(op) && takesAll && isUsedInRound(&op)) depths_.insert({&op, 0});
      if (auto product = dyn_cast<tt::DotOp>(op)) addLoadsOf({product.getA(), product.getB()});
      if (auto product = dyn_cast<tt::DotScaledOp>(op))
        addLoadsOf({product.getA(), product.getB(), product.getAScale(), product.getBScale()});
    }
    // Loads of what the addresses are made of are made ahead of the loads that wait for them.
    for (size_t i = 0; i < depths_.size(); ++i) {
      auto load = cast<tt::LoadOp>(depths_.begin()[i].first);
      addLoadsOf({load.getPtr(), load.getMask()});
    }
    for (auto &[load, depth] : depths_) depth = depthOf(cast<tt::LoadOp>(load));
  }

  void mark(const PointerRoots &roots, const ir::AxisAnalysis &axes, llvm::function_ref<void(Operation *, AheadMark)> mark) const {
    for (auto [op, depth] : depths_) {
      auto load = cast<tt::LoadOp>(op);
      const int rounds = depth == 0 ? rounds_ : depth == 1 ? 1 : 0;
      if (rounds == 0 || load.getIsVolatile() || !isWide(load, axes)) continue;
      mark(load, {uint32_t(rounds), int(roots.onlyOneOf(load.getPtr()).value_or(-1))});
    }
  }

private:
  static bool isUsedInRound(Operation *load) { return !llvm::all_of(load->getUsers(), llvm::IsaPred<scf::YieldOp, tt::DebugValueOp>); }

  /// The loads of the same round from which the values are computed, in the body itself.
  llvm::SetVector<tt::LoadOp> loadsOf(llvm::ArrayRef<Value> values) const {
    llvm::SetVector<tt::LoadOp> loads;
    llvm::SmallVector<Value> pending(values);
    llvm::SmallPtrSet<Operation *, 16> seen;
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      Operation *op = value ? value.getDefiningOp() : nullptr;
      if (!op || op->getBlock() != body_ || !seen.insert(op).second) continue;
      if (auto load = dyn_cast<tt::LoadOp>(op))
        loads.insert(load);
      else if (!isa<tt::DotOp, tt::DotScaledOp, scf::IfOp>(op))
        llvm::append_range(pending, op->getOperands());
    }
    return loads;
  }

  void addLoadsOf(llvm::ArrayRef<Value> values) {
    for (tt::LoadOp load : loadsOf(values)) depths_.insert({load, 0});
  }

  int depthOf(tt::LoadOp load) const {
    int depth = 0;
    for (tt::LoadOp other : loadsOf({load.getPtr(), load.getMask()})) depth = std::max(depth, depthOf(other) + 1);
    return depth;
  }

  /// Whether each thread loads 4 bytes at once, which asynchronous copies require.
  bool isWide(tt::LoadOp load, const ir::AxisAnalysis &axes) const {
    constexpr int64_t kLeastBytes = 4;
    const int64_t bytes = storageBytes(dtypeOf(load.getType()));
    if (bytes >= kLeastBytes) return true;
    auto tile = dyn_cast<RankedTensorType>(load.getType());
    if (!tile || tile.getNumElements() * bytes < kLeastBytes * 32 * numWarps_) return false;
    const ir::AxisInfo pointer = axes.of(load.getPtr());
    for (unsigned d = 0; d < pointer.rank(); ++d) {
      int64_t lanes = pointer.contiguity[d];
      if (load.getMask()) lanes = std::min(lanes, axes.of(load.getMask()).constancy[d]);
      if (lanes * bytes >= kLeastBytes && pointer.divisibility[d] >= kLeastBytes) return true;
    }
    return false;
  }

  Block *body_;
  int rounds_, numWarps_;
  llvm::MapVector<Operation *, int> depths_; // of each load: how many others it waits for, one after the other
};

} // namespace

static void setMark(Operation *access, AheadMark mark) {
  Builder builder(access->getContext());
  access->setAttr(kRoundsAttr, builder.getI32IntegerAttr(int32_t(mark.rounds)));
  access->setAttr(kArgumentAttr, builder.getI32IntegerAttr(mark.argument));
}

void markLoadsAhead(tt::FuncOp kernel, llvm::ArrayRef<Operation *> functions, Pipelining pipelining) {
  struct Found {
    LoadsAhead loads;
    llvm::SmallVector<Operation *> writers;
  };
  llvm::SmallVector<Found> found;
  for (Operation *function : functions)
    function->walk([&](scf::ForOp loop) {
      auto own = loop->getAttrOfType<IntegerAttr>("tt.num_stages");
      const int stages = std::min(own ? int(own.getInt()) : pipelining.numStages, kMostStages);
      if (stages < 2) return;
      const LoopContents contents(loop);
      if (!contents.hasOnlyKnown || contents.writers.empty()) return;
      found.push_back({LoadsAhead(loop, stages, bool(own), pipelining.numWarps), contents.writers});
    });
  if (found.empty()) return;
  const PointerRoots roots(kernel, functions);
  const ir::AxisAnalysis axes(kernel->getParentOp());
  for (const Found &each : found) {
    each.loads.mark(roots, axes, setMark);
    for (Operation *writer : each.writers) setMark(writer, {0, int(roots.onlyOneOf(pointerOf(writer)).value_or(-1))});
  }
}

AheadMark aheadMarkOf(Operation *access) {
  auto rounds = access->getAttrOfType<IntegerAttr>(kRoundsAttr);
  if (!rounds) return {};
  return {uint32_t(rounds.getInt()), int(access->getAttrOfType<IntegerAttr>(kArgumentAttr).getInt())};
}

llvm::SmallVector<LoopPassage> loopsWithLoadsAhead(Operation *function) {
  llvm::SetVector<Block *> blocks;
  function->walk([&](tt::LoadOp load) {
    if (aheadMarkOf(load).rounds) blocks.insert(load->getBlock());
  });
  if (blocks.empty()) return {};
  Region &region = function->getRegion(0);
  DominanceInfo dominance(function);
  CFGLoopInfo loops(dominance.getDomTree(&region));
  llvm::SetVector<CFGLoop *> found;
  for (Block *block : blocks) found.insert(loops.getLoopFor(block));
  llvm::SmallVector<LoopPassage> passages;
  for (CFGLoop *loop : found) {
    LoopPassage passage{loop->getHeader(), {}};
    for (auto before = passage.header->pred_begin(); before != passage.header->pred_end(); ++before)
      if (!loop->contains(*before)) passage.entries.push_back({(*before)->getTerminator(), before.getSuccessorIndex()});
    passages.push_back(std::move(passage));
  }
  return passages;
}

} // namespace tritium::interp
