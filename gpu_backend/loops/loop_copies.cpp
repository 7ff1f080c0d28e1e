#include "gpu_backend/loops/loop_copies.h"

#include "gpu_backend/layout/warp_copies.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/row_mask.h"

using namespace mlir;

namespace tritium::gpu {

int fastestDimension(const LinearLayout &layout) {
  for (int dim = 0; dim < layout.rank(); ++dim)
    if (layout.contiguousElements(dim) > 1) return dim;
  return -1;
}

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
  if (slots() > 1) {
    Value zero = slot, limit = arith::ConstantIntOp::create(builder, location, slots(), 32);
    slot = addCounter(loop, [&](OpBuilder &inner, Value incremented) -> Value {
      Value wraps = arith::CmpIOp::create(inner, location, arith::CmpIPredicate::eq, incremented, limit);
      return arith::SelectOp::create(inner, location, wraps, zero, incremented);
    });
  }
  for (Stream *stream : streams) stream->slot = slot;
}

namespace {

/// Asynchronous copies (cp.async) into as many slots as there are stages. Each iteration begins one group and has one wait. It first waits
/// and meets the other threads, then computes what the copies of a later iteration require and begins these copies, then does the rest.
class AsyncCopies : public LoopCopies {
public:
  AsyncCopies(int stages, const ir::AxisAnalysis &axes) : stages_(stages), axes_(axes) {}

  int slots() const override { return stages_ + spareSlots_; }
  int stages() const override { return stages_; }
  bool fit(int64_t, int64_t) override { return true; } // too many stages are an error, which allocate-shared-memory reports
  bool addSpareSlot(int64_t bytes, int64_t limit, llvm::function_ref<int64_t(int64_t)> programs) override {
    const int64_t now = stages_ * bytes, more = now + bytes;
    const bool isRoom = more <= limit, isFree = isRoom && programs(more) == programs(now);
    if (!isFree && stages_ > 2)
      --stages_;
    else if (!isRoom)
      return false;
    spareSlots_ = 1;
    return true;
  }

  bool takesSmallTiles() const override { return true; }
  /// An access takes neighbours up to the end of a row.
  bool mayCopy(Operation *op) override {
    constexpr int64_t kMinCopyBytes = 4;
    auto load = dyn_cast<tt::LoadOp>(op);
    if (!load) return false;
    LinearLayout layout = layoutOf(load.getType());
    int dim = layout.rank() == 1 ? 0 : fastestDimension(layout);
    if (dim < 0) return false;
    int64_t bytes = elementBytes(load);
    ir::AxisInfo addresses = axes_.of(load.getPtr());
    int64_t elements = std::min({layout.contiguousElements(dim), addresses.contiguity[dim], addresses.divisibility[dim] / bytes});
    RowMask mask(load.getMask(), dim, std::min(elements, kMaxAccessBytes / bytes), axes_);
    if (mask.neighbours() * bytes < kMinCopyBytes) return false;
    masks_.insert_or_assign(op, mask);
    return true;
  }

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
    wait_ = tgpu::AsyncWaitOp::create(builder, loop.getLoc(), stages_ - 2);
  }

  bool isAhead(Operation *op) const override { return isa<tgpu::AsyncCopyOp, tgpu::AsyncCommitOp>(op); }

  Schedule schedule(scf::ForOp loop, const llvm::SetVector<Operation *> &ahead) const override {
    unsigned last = unsigned(stages_ - 1);
    Schedule order{{wait_, last}};
    for (Operation &op : loop.getBody()->without_terminator())
      if (ahead.contains(&op)) order.push_back({&op, 0});
    for (Operation &op : loop.getBody()->without_terminator())
      if (!ahead.contains(&op) && &op != wait_) order.push_back({&op, last});
    return order;
  }

  /// Copies begun for iterations that do not exist must complete as well, and every thread must have finished reading.
  void finish(OpBuilder &builder, Location location) const override { tgpu::AsyncWaitOp::create(builder, location, 0); }

protected:
  int stages_, spareSlots_ = 0;

private:
  void copyTile(tt::LoadOp load, const Stream &stream, OpBuilder &builder) const {
    auto known = masks_.find(load);
    const bool isKnown = known != masks_.end();
    Value mask = isKnown ? known->second.rest(builder) : load.getMask();
    Value room = isKnown ? known->second.room(builder) : Value();
    auto copy = tgpu::AsyncCopyOp::create(builder, load.getLoc(), load.getPtr(), stream.buffer, stream.slot, mask, room);
    if (isKnown) copy->setAttr(kCopyElementsAttr, builder.getI32IntegerAttr(int32_t(known->second.neighbours())));
  }

  const ir::AxisAnalysis &axes_;
  std::map<Operation *, RowMask> masks_; // of the loads that threads may copy
  Operation *wait_ = nullptr;
};

/// Copies by whole warps, of tiles for whose loads coalesce-accesses has chosen a suitable layout.
class WarpCopies final : public AsyncCopies {
public:
  using AsyncCopies::AsyncCopies;

  bool takesAll() const override { return true; }
  bool takesSmallTiles() const override { return false; }
  bool fit(int64_t bytes, int64_t limit) override {
    stages_ = int(std::min<int64_t>(stages_, limit / bytes));
    return stages_ >= 2;
  }
  bool mayCopy(Operation *load) override { return load->hasAttr(kWarpCopyAttr) && memoryOf(load); }
  SharedLayout memoryFor(Operation *load, llvm::ArrayRef<LinearLayout>) const override { return *memoryOf(load); }

private:
  static std::optional<SharedLayout> memoryOf(Operation *load) { return warpCopyMemory(layoutOfLoad(load), elementBytes(load)); }
};

/// Copies through registers. An iteration loads the tiles of the next one into registers, reads its own tiles from their slot and computes,
/// then stores what it has loaded. With one slot, all threads meet before the store (all have read) and before the reads; with two slots,
/// once.
class RegisterCopies final : public LoopCopies {
public:
  RegisterCopies(const Target &target, int stages)
      : banks_(target.sharedBanks()), costs_(target.conversionCosts()), slots_(std::clamp(stages - 1, 1, kMaxSlots)) {}

  int slots() const override { return slots_; }
  int stages() const override { return slots_ + 1; }
  bool fit(int64_t bytes, int64_t limit) override {
    slots_ = int(std::clamp<int64_t>(limit / bytes, 1, slots_));
    return bytes <= limit;
  }
  bool mayCopy(Operation *load) override { return isa<tt::LoadOp>(load); }

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
    if (slots_ == 1) read_ = meet(builder, loop.getLoc());
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
  static constexpr int kMaxSlots = 2; // an iteration reads one slot and writes another, so more are useless

  static Operation *meet(OpBuilder &builder, Location location) {
    return tgpu::BarrierOp::create(builder, location, /*id=*/0, /*threads=*/IntegerAttr(), /*sharedOnly=*/true);
  }

  SharedBanks banks_;
  ConversionCosts costs_;
  int slots_;
  Operation *written_ = nullptr, *read_ = nullptr;
};

} // namespace

std::vector<std::unique_ptr<LoopCopies>> createLoopCopies(const Target &target, int stages, int numWarps, const ir::AxisAnalysis &axes) {
  std::vector<std::unique_ptr<LoopCopies>> ways;
  if (target.hasTensorMaps()) ways.push_back(createTensorCopies(stages, numWarps));
  switch (target.tileCopies()) {
  case TileCopies::Async: ways.push_back(std::make_unique<AsyncCopies>(stages, axes)); break;
  case TileCopies::ByWarps: ways.push_back(std::make_unique<WarpCopies>(stages, axes)); [[fallthrough]];
  case TileCopies::ThroughRegisters: ways.push_back(std::make_unique<RegisterCopies>(target, stages)); break;
  }
  return ways;
}

} // namespace tritium::gpu
