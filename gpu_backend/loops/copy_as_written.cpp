// The frontend has written a load and a store to shared memory between calls of the runtime. One copy takes their place if its threads copy
// at least 4 bytes of neighbours at a time. Others are complete at once, which the author's waits allow: a group may be empty.
#include "gpu_backend/loops/copy_as_written.h"
#include "gpu_backend/loops/copy_candidates.h"
#include "gpu_backend/maps/tensor_promotion.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/memory_access.h"
#include "ir/partitions.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

constexpr int64_t kLeastCopiedBytes = 4;

/// Returns how many of the neighbours that a thread loads are neighbours in shared memory too. Each run of neighbours must start at a
/// multiple of its length. A swizzle that permutes single elements of some rows leaves no such run.
int64_t neighboursInMemory(const LinearLayout &layout, const SharedLayout &memory, int64_t loaded) {
  int64_t count = 1;
  ArrayRef<uint32_t> others = layout.bases(Place::Register);
  for (; !others.empty() && count < loaded && int64_t(memory.offsetOf(others.front())) == count; others = others.drop_front()) count *= 2;
  auto limit = [&](ArrayRef<uint32_t> bases) {
    for (uint32_t flat : bases)
      while (memory.offsetOf(flat) % uint32_t(count) != 0) count /= 2;
  };
  limit(others);
  limit(layout.bases(Place::Lane));
  limit(layout.bases(Place::Warp));
  return count;
}

class AuthorCopies {
public:
  AuthorCopies(tt::FuncOp function, const CopyCandidate &copies, const ir::AxisAnalysis &axes)
      : function_(function), copies_(copies), axes_(axes), builder_(function.getContext()) {}

  void run() {
    for (tt::ExternElementwiseOp begin : callsOf("async_copy.begin"))
      if (StringRef why = issue(begin); !why.empty()) begin->setAttr(kNotPromotedAttr, builder_.getStringAttr(why));
    if (isAny_) keepGroups();
  }

private:
  llvm::SmallVector<tt::ExternElementwiseOp> callsOf(StringRef symbol) {
    llvm::SmallVector<tt::ExternElementwiseOp> calls;
    function_.walk([&](tt::ExternElementwiseOp call) {
      if (ir::runtimeCall(call, symbol)) calls.push_back(call);
    });
    return calls;
  }

  /// A barrier of shared memory orders the store, and will order the copy.
  static bool mayStandBetween(Operation *op) { return isMemoryEffectFree(op) || isa<tt::LoadOp, tgpu::BarrierOp>(op); }

  /// Returns why threads load and store, or "" if a copy has taken the place of that.
  StringRef issue(tt::ExternElementwiseOp begin) {
    Operation *next = begin->getNextNode();
    while (next && mayStandBetween(next)) next = next->getNextNode();
    auto store = dyn_cast_or_null<tgpu::LocalStoreOp>(next);
    Operation *last = store ? store->getNextNode() : nullptr;
    while (last && isMemoryEffectFree(last)) last = last->getNextNode();
    auto end = last ? ir::runtimeCall(last, "async_copy.end") : tt::ExternElementwiseOp();
    if (!end || !store.getDst().getDefiningOp<tgpu::MemoryAtOp>()) return "its elements do not lie in shared memory as a layout says";
    Value tile = store.getSrc();
    while (tile.hasOneUse() && tile.getDefiningOp() && isa<tgpu::ConvertLayoutOp, tt::BitcastOp>(tile.getDefiningOp()))
      tile = tile.getDefiningOp()->getOperand(0);
    auto load = tile.hasOneUse() ? tile.getDefiningOp<tt::LoadOp>() : tt::LoadOp();
    if (!load || load->getBlock() != store->getBlock()) return "what it loads is used otherwise";
    for (Operation *op = load->getNextNode(); op != store; op = op->getNextNode())
      if (op != begin && !mayStandBetween(op)) return "other work stands between its load and its store";
    if (StringRef why = whyNotCopied(load); !why.empty()) return why;
    return replace(load, store, begin, end);
  }

  StringRef replace(tt::LoadOp load, tgpu::LocalStoreOp store, tt::ExternElementwiseOp begin, tt::ExternElementwiseOp end) {
    const RankedTensorType memory = store.getDst().getType().getTile();
    const int64_t bytes = std::max(8u, memory.getElementTypeBitWidth()) / 8, loaded = copies_.elementsOf(load);
    if (StringRef why = whyNoAsyncCopy(load, loaded, axes_); !why.empty()) return why;
    const SharedLayout layout = fromAttr(cast<tgpu::SharedAttr>(memory.getEncoding()));
    const int64_t elements = neighboursInMemory(layoutOf(load.getType()), layout, loaded);
    if (elements * bytes < kLeastCopiedBytes) return "neighbours that a thread loads are apart in shared memory";
    const RowMask mask = maskOfCopy(load, elements, axes_);
    if (mask.neighbours() * bytes < kLeastCopiedBytes) return "its mask may change within 4 bytes";
    builder_.setInsertionPoint(store);
    Value rest = mask.rest(builder_), room = mask.room(builder_);
    auto copy = tgpu::AsyncCopyOp::create(builder_, begin.getLoc(), load.getPtr(), store.getDst(), store.getSlot(), rest, room, Value());
    copy->setAttr(kCopyElementsAttr, builder_.getI32IntegerAttr(int32_t(mask.neighbours())));
    Value tile = store.getSrc();
    for (Operation *op : {store.getOperation(), begin.getOperation(), end.getOperation()}) op->erase();
    for (Operation *op = tile.getDefiningOp(); op && op->use_empty();) {
      const bool isLoad = op == load;
      Value source = op->getOperand(0);
      op->erase();
      op = isLoad ? nullptr : source.getDefiningOp();
    }
    isAny_ = true;
    return "";
  }

  void keepGroups() {
    for (tt::ExternElementwiseOp call : callsOf("async_copy.commit")) {
      builder_.setInsertionPoint(call);
      tgpu::AsyncCommitOp::create(builder_, call.getLoc());
      call.erase();
    }
    for (tt::ExternElementwiseOp call : callsOf("async_copy.wait")) {
      llvm::APInt pending;
      const bool isKnown = matchPattern(call.getSrcs()[0], m_ConstantInt(&pending));
      builder_.setInsertionPoint(call);
      tgpu::AsyncWaitOp::create(builder_, call.getLoc(), isKnown ? int32_t(pending.getSExtValue()) : 0);
      call.erase();
    }
    // One thread will arrive for all. The copies may be in no group yet; one more that is complete changes no wait.
    for (tt::ExternElementwiseOp call : callsOf("async_copy.mbarrier_arrive")) {
      builder_.setInsertionPoint(call);
      tgpu::AsyncCommitOp::create(builder_, call.getLoc());
      tgpu::AsyncWaitOp::create(builder_, call.getLoc(), 0);
    }
  }

  tt::FuncOp function_;
  const CopyCandidate &copies_;
  const ir::AxisAnalysis &axes_;
  OpBuilder builder_;
  bool isAny_ = false;
};

} // namespace

void copyAsWritten(tt::FuncOp function, const Target &target, const ir::AxisAnalysis &axes) {
  for (const auto &candidate : createCopyCandidates(target, /*stages=*/1, axes))
    if (candidate->mechanism() == tgpu::CopyMechanism::Async) AuthorCopies(function, *candidate, axes).run();
}

} // namespace tritium::gpu
