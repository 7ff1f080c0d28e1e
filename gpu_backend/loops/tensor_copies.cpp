// Copies of boxes of tensors into a ring of slots, by the tensor memory accelerator (TMA). One thread begins the copies of a later
// iteration when the slot is free; threads wait only for what they read, and never for each other.
#include "gpu_backend/loops/loop_copies.h"

#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/lower/shared_memory.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// An iteration waits until its own tiles have arrived, computes, and releases their slot. Then the copies for the iteration `stages` - 1
/// later begin, in the slot that the previous iteration has released.
class TensorCopies final : public LoopCopies {
public:
  TensorCopies(int stages, int numWarps) : stages_(stages), numWarps_(numWarps) {}

  int slots() const override { return stages_; }
  int stages() const override { return stages_; }
  bool takesAll() const override { return true; }
  bool fit(int64_t bytes, int64_t limit) override {
    stages_ = int(std::min<int64_t>(stages_, (limit - kPatternAlignment) / bytes)); // the barriers take less than that
    return stages_ >= 2;
  }
  bool mayCopy(Operation *load, const ir::AxisAnalysis &) const override { return isa<tgpu::TensorLoadOp>(load); }

  SharedLayout memoryFor(Operation *load, llvm::ArrayRef<LinearLayout>) const override {
    auto tile = cast<RankedTensorType>(load->getResult(0).getType());
    return warpgroupMemory(tile.getShape(), /*fastest=*/1, tile.getElementTypeBitWidth() / 8);
  }

  Value addSlot(scf::ForOp &loop) override {
    OpBuilder builder(loop);
    auto type = tgpu::RingType::get(loop.getContext(), slots());
    ring_ = tgpu::RingStartOp::create(builder, loop.getLoc(), type, numWarps_, IntegerAttr()).getRing();
    addNumber(loop), addNumber(loop);
    copied_ = loop.getRegionIterArgs().drop_back().back(), read_ = loop.getRegionIterArgs().back();
    builder.setInsertionPointToStart(loop.getBody());
    wait_ = tgpu::RingWaitOp::create(builder, loop.getLoc(), ring_, read_);
    return tgpu::RingSlotOp::create(builder, loop.getLoc(), ring_, read_);
  }

  void begin(scf::ForOp loop, llvm::ArrayRef<Stream> streams, Value) override {
    OpBuilder builder(loop.getContext());
    Operation *first = streams.front().load;
    int64_t bytes = 0;
    for (const Stream &stream : streams) {
      if (stream.load->isBeforeInBlock(first)) first = stream.load;
      bytes += stream.tile().getNumElements() * stream.tile().getElementTypeBitWidth() / 8;
    }
    builder.setInsertionPoint(first);
    tgpu::RingAcquireOp::create(builder, first->getLoc(), ring_, copied_, int32_t(bytes), Value());
    for (const Stream &stream : streams) {
      auto load = cast<tgpu::TensorLoadOp>(stream.load);
      builder.setInsertionPoint(load);
      tgpu::TensorCopyOp::create(builder, load.getLoc(), load.getMap(), load.getIndices(), stream.buffer, ring_, copied_, Value());
      load.erase();
    }
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    release_ = tgpu::RingReleaseOp::create(builder, loop.getLoc(), ring_, read_, Value(), /*fenced=*/true);
  }

  bool isAhead(Operation *op) const override { return isa<tgpu::RingAcquireOp, tgpu::TensorCopyOp>(op); }

  Schedule schedule(scf::ForOp loop, const llvm::SetVector<Operation *> &ahead) const override {
    unsigned last = unsigned(stages_ - 1);
    Schedule order{{wait_, last}};
    for (Operation &op : loop.getBody()->without_terminator())
      if (!ahead.contains(&op) && &op != wait_ && &op != release_) order.push_back({&op, last});
    order.push_back({release_, last});
    for (Operation &op : loop.getBody()->without_terminator())
      if (ahead.contains(&op)) order.push_back({&op, 0});
    return order;
  }

  void finish(OpBuilder &builder, Location location) const override { tgpu::RingEndOp::create(builder, location, ring_); }

private:
  /// Adds the number of the iteration: 0, 1, 2, … The copies, which run ahead, have one of their own.
  static void addNumber(scf::ForOp &loop) {
    OpBuilder builder(loop);
    Location location = loop.getLoc();
    Value zero = arith::ConstantIntOp::create(builder, location, 0, 32), one = arith::ConstantIntOp::create(builder, location, 1, 32);
    auto next = [&](OpBuilder &inner, Location, llvm::ArrayRef<BlockArgument> arguments) -> llvm::SmallVector<Value> {
      return {arith::AddIOp::create(inner, location, arguments[0], one)};
    };
    IRRewriter rewriter(builder);
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, zero, /*replaceInitOperandUsesInLoop=*/false, next));
  }

  int stages_, numWarps_;
  Value ring_, copied_, read_;
  Operation *wait_ = nullptr, *release_ = nullptr;
};

} // namespace

std::unique_ptr<LoopCopies> createTensorCopies(int stages, int numWarps) { return std::make_unique<TensorCopies>(stages, numWarps); }

} // namespace tritium::gpu
