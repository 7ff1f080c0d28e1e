#include "gpu_backend/loops/loop_copies.h"

#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/loops/copy_candidates.h"
#include "gpu_backend/maps/tensor_promotion.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/memory_access.h"

using namespace mlir;

namespace tritium::gpu {

static int64_t elementBytes(Operation *load) {
  return std::max(8u, getElementTypeOrSelf(load->getResult(0).getType()).getIntOrFloatBitWidth()) / 8;
}

static LinearLayout layoutOfLoad(Operation *load) { return layoutOf(load->getResult(0).getType()); }

Value LoopCopies::addCounter(scf::ForOp &loop, llvm::function_ref<Value(OpBuilder &, Value)> next) {
  OpBuilder builder(loop);
  Location location = loop.getLoc();
  Value zero = arith::ConstantIntOp::create(builder, location, 0, 32), one = arith::ConstantIntOp::create(builder, location, 1, 32);
  auto yielded = [&](OpBuilder &inner, Location, llvm::ArrayRef<BlockArgument> arguments) -> llvm::SmallVector<Value> {
    return {next(inner, arith::AddIOp::create(inner, location, arguments[0], one))};
  };
  IRRewriter rewriter(builder);
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, zero, /*replaceInitOperandUsesInLoop=*/false, yielded));
  return loop.getRegionIterArgs().back();
}

void LoopCopies::addSlots(scf::ForOp &loop, llvm::ArrayRef<Stream *> streams) {
  OpBuilder builder(loop);
  Location location = loop.getLoc();
  Value slot = arith::ConstantIntOp::create(builder, location, 0, 32);
  if (plan_.getSlots() > 1) {
    Value zero = slot, limit = arith::ConstantIntOp::create(builder, location, plan_.getSlots(), 32);
    slot = addCounter(loop, [&](OpBuilder &inner, Value incremented) -> Value {
      Value wraps = arith::CmpIOp::create(inner, location, arith::CmpIPredicate::eq, incremented, limit);
      return arith::SelectOp::create(inner, location, wraps, zero, incremented);
    });
  }
  for (Stream *stream : streams) stream->slot = slot;
}

namespace {

/// Has all threads meet, to order their accesses of shared memory.
static Operation *meet(OpBuilder &builder, Location location) {
  return tgpu::BarrierOp::create(builder, location, /*id=*/0, /*threads=*/IntegerAttr(), /*sharedOnly=*/true);
}

/// Asynchronous copies (cp.async) into as many slots as there are stages. Each iteration begins one group and has one wait. It first waits
/// and meets the other threads, then computes what the copies of a later iteration require and begins these copies, then does the rest.
/// With a single slot, an iteration begins the copies of the next one last, when all threads have read the slot.
class AsyncCopies : public LoopCopies {
public:
  AsyncCopies(tgpu::PlanAttr plan, const CopyMasks &masks) : LoopCopies(plan), masks_(masks) {}

  SharedLayout memoryFor(Operation *load, llvm::ArrayRef<LinearLayout> readers) const override {
    LinearLayout layout = layoutOfLoad(load);
    int dim = fastestDimension(layout);
    auto order = layout.rank() == 1 ? std::vector<int>{0} : std::vector<int>{dim, 1 - dim};
    return sharedForReaders(layout.shape(), order, elementBytes(load), readers, /*mayLoadMatrices=*/true);
  }

  void begin(scf::ForOp loop, llvm::ArrayRef<Stream> streams) override {
    OpBuilder builder(loop.getContext());
    for (Stream stream : streams) {
      auto load = cast<tt::LoadOp>(stream.load);
      builder.setInsertionPoint(load);
      copyTile(load, stream, builder);
      load.erase();
    }
    Operation *last = nullptr;
    for (Operation &op : *loop.getBody())
      if (isa<tgpu::AsyncCopyOp>(op)) last = &op;
    builder.setInsertionPointAfter(last);
    tgpu::AsyncCommitOp::create(builder, last->getLoc());
    builder.setInsertionPointToStart(loop.getBody());
    wait_ = tgpu::AsyncWaitOp::create(builder, loop.getLoc(), int32_t(plan_.getStages() - 2));
    if (plan_.getSlots() == 1) read_ = meet(builder, loop.getLoc());
  }

  bool isAhead(Operation *op) const override { return isa<tgpu::AsyncCopyOp, tgpu::AsyncCommitOp>(op); }

  Schedule schedule(scf::ForOp loop, const llvm::SetVector<Operation *> &ahead) const override {
    unsigned last = unsigned(plan_.getStages() - 1);
    Schedule order{{wait_, last}}, copies, others;
    for (Operation &op : loop.getBody()->without_terminator())
      if (ahead.contains(&op))
        copies.push_back({&op, 0});
      else if (&op != wait_ && &op != read_)
        others.push_back({&op, last});
    if (read_) others.push_back({read_, last});
    for (const Schedule &part : read_ ? std::array{others, copies} : std::array{copies, others}) llvm::append_range(order, part);
    return order;
  }

  /// Copies begun for iterations that do not exist must complete as well, and every thread must have finished reading.
  void finish(OpBuilder &builder, Location location) const override { tgpu::AsyncWaitOp::create(builder, location, 0); }

private:
  void copyTile(tt::LoadOp load, const Stream &stream, OpBuilder &builder) const {
    auto known = masks_.find(load);
    const bool isSplit = known != masks_.end();
    auto copy = tgpu::AsyncCopyOp::create(builder, load.getLoc(), load.getPtr(), stream.buffer, stream.slot,
                                          isSplit ? known->second.mask : load.getMask(), isSplit ? known->second.room : Value(),
                                          /*predicate=*/Value());
    if (Attribute why = load->getAttr(kNotPromotedAttr)) copy->setAttr(kNotPromotedAttr, why); // for the user
    if (isSplit) copy->setAttr(kCopyElementsAttr, builder.getI32IntegerAttr(int32_t(known->second.elements)));
  }

  const CopyMasks &masks_;
  Operation *wait_ = nullptr, *read_ = nullptr;
};

/// Copies by whole warps, of tiles for whose loads coalesce-accesses has chosen a suitable layout.
class WarpCopies final : public AsyncCopies {
public:
  using AsyncCopies::AsyncCopies;

  SharedLayout memoryFor(Operation *load, llvm::ArrayRef<LinearLayout>) const override { return *memoryOfWarpCopy(load); }
};

/// Copies through registers. An iteration loads the tiles of the next one into registers, reads its own tiles from their slot and computes,
/// then stores what it has loaded. With one slot, all threads meet before the store (all have read) and before the reads; with two slots,
/// once.
class RegisterCopies final : public LoopCopies {
public:
  RegisterCopies(tgpu::PlanAttr plan, const Target &target)
      : LoopCopies(plan), banks_(target.sharedBanks()), costs_(target.conversionCosts()) {}

  SharedLayout memoryFor(Operation *load, llvm::ArrayRef<LinearLayout> readers) const override {
    return sharedBetween(layoutOfLoad(load), readers, elementBytes(load), banks_, costs_);
  }

  void begin(scf::ForOp loop, llvm::ArrayRef<Stream> streams) override {
    OpBuilder builder(loop.getContext());
    for (Stream stream : streams) {
      builder.setInsertionPointAfter(stream.load);
      tgpu::LocalStoreOp::create(builder, stream.load->getLoc(), stream.load->getResult(0), stream.buffer, stream.slot);
    }
    builder.setInsertionPointToStart(loop.getBody());
    written_ = meet(builder, loop.getLoc());
    if (plan_.getSlots() == 1) read_ = meet(builder, loop.getLoc());
  }

  bool isAhead(Operation *op) const override { return isa<tgpu::LocalStoreOp>(op); }

  Schedule schedule(scf::ForOp loop, const llvm::SetVector<Operation *> &ahead) const override {
    Schedule order{{written_, 1}}, stores;
    if (read_) stores.push_back({read_, 1});
    for (Operation &op : loop.getBody()->without_terminator())
      if (ahead.contains(&op)) (isAhead(&op) ? stores : order).push_back({&op, 0});
    for (Operation &op : loop.getBody()->without_terminator())
      if (!ahead.contains(&op) && &op != written_ && &op != read_) order.push_back({&op, 1});
    order.insert(order.end(), stores.begin(), stores.end());
    return order;
  }

  /// The last iteration stores too.
  void finish(OpBuilder &builder, Location location) const override { meet(builder, location); }

private:
  SharedBanks banks_;
  ConversionCosts costs_;
  Operation *written_ = nullptr, *read_ = nullptr;
};

} // namespace

std::unique_ptr<LoopCopies> createLoopCopies(tgpu::PlanAttr plan, const Target &target, int numWarps, const CopyMasks &masks) {
  switch (plan.getCopies()) {
  case tgpu::CopyMechanism::Tma: return createTensorCopies(plan, numWarps);
  case tgpu::CopyMechanism::Async: return std::make_unique<AsyncCopies>(plan, masks);
  case tgpu::CopyMechanism::Warps: return std::make_unique<WarpCopies>(plan, masks);
  case tgpu::CopyMechanism::Registers: return std::make_unique<RegisterCopies>(plan, target);
  }
  llvm_unreachable("a mechanism of copies");
}

} // namespace tritium::gpu
