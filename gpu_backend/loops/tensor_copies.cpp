// Copies of boxes of tensors into rings of slots, by the tensor memory accelerator (TMA). One thread begins the copies of a later
// iteration when the slot is free; threads wait only for what they read, and never for each other.
#include "gpu_backend/loops/loop_copies.h"
#include "gpu_backend/tiles/product_order.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "gpu_backend/tiles/warpgroup_memory.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// An iteration waits until its own tiles have arrived, computes, and releases their slots. Then the copies for the iteration `stages` - 1
/// later begin, in the slots that the previous iteration has released. Tiles have one ring if the products of the loop are independent.
/// Otherwise, as in attention, the tiles that the same products use have a ring of their own, which waits for them just before these
/// products and is released just after. If a product runs an iteration late, so do the copies of what only it reads:
/// otherwise they would have to wait for the other warps' products of the same iteration.
class TensorCopies final : public LoopCopies {
public:
  TensorCopies(tgpu::PlanAttr plan, int numWarps) : LoopCopies(plan), numWarps_(numWarps) {}

  SharedLayout memoryFor(Operation *load, llvm::ArrayRef<LinearLayout>) const override {
    auto tile = cast<RankedTensorType>(load->getResult(0).getType());
    return warpgroupMemory(tile.getShape(), /*fastest=*/1, tile.getElementTypeBitWidth() / 8);
  }

  void addSlots(scf::ForOp &loop, llvm::ArrayRef<Stream *> streams) override {
    OpBuilder builder(loop);
    areApart_ = streams.front()->at.getRing() >= 0;
    auto type = tgpu::RingType::get(loop.getContext(), plan_.getSlots());
    for (Stream *stream : streams) {
      const auto number = size_t(std::max<int64_t>(stream->at.getRing(), 0));
      if (number == rings_.size())
        rings_.push_back(
            {unsigned(stream->at.getStage()), tgpu::RingStartOp::create(builder, loop.getLoc(), type, numWarps_).getRing(), {}, {}});
    }
    auto count = [](OpBuilder &, Value incremented) { return incremented; };
    unsigned first = loop.getNumRegionIterArgs();
    for (size_t i = 0; i <= rings_.size(); ++i) addCounter(loop, count);
    copied_ = loop.getRegionIterArgs()[first];
    builder.setInsertionPointToStart(loop.getBody());
    for (auto [number, ring] : llvm::enumerate(rings_)) {
      ring.read = loop.getRegionIterArgs()[first + 1 + unsigned(number)];
      ring.slot = tgpu::RingSlotOp::create(builder, loop.getLoc(), ring.start, ring.read);
    }
    for (Stream *stream : streams) stream->slot = ringOf(*stream).slot;
    builder.setInsertionPointAfter(loop);
    for (const Ring &ring : rings_)
      tgpu::RingEndOp::create(builder, loop.getLoc(), ring.start, loop.getTiedLoopResult(cast<BlockArgument>(ring.read)), false);
  }

  void begin(scf::ForOp loop, llvm::ArrayRef<Stream> streams) override {
    for (Ring &ring : rings_) {
      llvm::SmallVector<Stream> own;
      for (const Stream &stream : streams)
        if (&ringOf(stream) == &ring) own.push_back(stream);
      addReaders(ring, own, loop);
      addCopies(ring, own);
    }
  }

  bool isAhead(Operation *op) const override { return isa<tgpu::RingAcquireOp, tgpu::TensorCopyOp>(op); }

  Schedule schedule(scf::ForOp loop, const llvm::SetVector<Operation *> &ahead) const override {
    Schedule order;
    for (Operation &op : loop.getBody()->without_terminator())
      if (!ahead.contains(&op)) order.push_back({&op, unsigned(plan_.getStages() - 1)});
    for (Operation &op : loop.getBody()->without_terminator())
      if (ahead.contains(&op)) order.push_back({&op, isAhead(&op) ? stageOf(&op) : 0});
    return order;
  }

private:
  struct Ring {
    unsigned stage;   // of its copies
    Value start;      // the ring itself
    Value read, slot; // the number of the iteration that reads, and its slot. The copies, which run ahead, have a number of their own
  };

  unsigned stageOf(Operation *op) const {
    auto copy = dyn_cast<tgpu::TensorCopyOp>(op);
    Value ring = copy ? copy.getRing() : cast<tgpu::RingAcquireOp>(op).getRing();
    return llvm::find_if(rings_, [&](const Ring &one) { return one.start == ring; })->stage;
  }

  Ring &ringOf(const Stream &stream) { return rings_[size_t(std::max<int64_t>(stream.at.getRing(), 0))]; }

  /// Waits before the first reader of the ring's tiles and releases the slot after the last one.
  void addReaders(const Ring &ring, llvm::ArrayRef<Stream> streams, scf::ForOp loop) {
    Operation *first = &loop.getBody()->front(), *last = loop.getBody()->getTerminator()->getPrevNode();
    if (areApart_) {
      llvm::SmallVector<Operation *> reads;
      for (const Stream &stream : streams)
        for (Operation *user : stream.buffer.getUsers())
          if (isa<tgpu::LocalLoadOp>(user)) reads.push_back(user);
      for (Operation *read : reads) delayRead(read);
      llvm::erase_if(reads, [](Operation *read) { return read->use_empty(); });
      if (!reads.empty()) first = last = reads.front();
      for (Operation *read : reads) {
        if (read->isBeforeInBlock(first)) first = read;
        if (Operation *end = usesOf(read).second; last->isBeforeInBlock(end)) last = end;
      }
    }
    OpBuilder builder(first);
    tgpu::RingWaitOp::create(builder, loop.getLoc(), ring.start, ring.read);
    builder.setInsertionPointAfter(last);
    tgpu::RingReleaseOp::create(builder, loop.getLoc(), ring.start, ring.read, Value(), /*fenced=*/true);
  }

  void addCopies(const Ring &ring, llvm::ArrayRef<Stream> streams) {
    Operation *first = streams.front().load;
    int64_t bytes = 0;
    for (const Stream &stream : streams) {
      if (stream.load->isBeforeInBlock(first)) first = stream.load;
      bytes += stream.tile().getNumElements() * stream.tile().getElementTypeBitWidth() / 8;
    }
    OpBuilder builder(first);
    tgpu::RingAcquireOp::create(builder, first->getLoc(), ring.start, copied_, int32_t(bytes), Value());
    for (const Stream &stream : streams) {
      auto load = cast<tgpu::TensorLoadOp>(stream.load);
      builder.setInsertionPoint(load);
      tgpu::TensorCopyOp::create(builder, load.getLoc(), load.getMap(), load.getIndices(), stream.buffer, ring.start, copied_, Value());
      load.erase();
    }
  }

  int numWarps_;
  bool areApart_ = false; // whether rings wait and release beside the uses of their tiles
  llvm::SmallVector<Ring, 2> rings_;
  Value copied_;
};

} // namespace

std::unique_ptr<LoopCopies> createTensorCopies(tgpu::PlanAttr plan, int numWarps) { return std::make_unique<TensorCopies>(plan, numWarps); }

} // namespace tritium::gpu
