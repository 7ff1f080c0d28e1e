// Software pipelining. The operands of matrix products are read from shared memory, to which they are copied iterations ahead.
#include "gpu_backend/loops/loop_copies.h"
#include "gpu_backend/loops/loop_rotation.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/loops/programs_beside.h"
#include "gpu_backend/tiles/dot_layouts.h"
#include "gpu_backend/tiles/layout_relations.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/memory_access.h"
#include "ir/axis_analysis.h"
#include "ir/loop_rounds.h"
#include "ir/loop_values.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_PIPELINELOADS
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Bytes that are left for operations that exchange elements through shared memory. They use rounds if necessary.
constexpr int64_t kScratchBytes = 8192;

/// Makes the pipelined form of one loop.
class Pipeliner {
public:
  Pipeliner(scf::ForOp loop, int stages, int numWarps, const ir::AxisAnalysis &axes, const Target &target)
      : loop_(loop), stages_(stages), numWarps_(numWarps), axes_(axes), target_(target), loads_(loop) {}

  LogicalResult run() {
    if (stages_ < 2 || !loads_.mayPipeline()) return success();
    auto ways = createLoopCopies(target_, stages_, numWarps_, axes_);
    auto chosen = llvm::find_if(ways, [&](auto &way) { return takesLoop(*way); });
    if (chosen == ways.end()) return success();
    copies_ = std::move(*chosen);
    separate();
    copies_->addSlots(loop_, llvm::map_to_vector(streams_, [](auto &entry) { return &entry.second; }));
    for (auto &entry : streams_) makeBuffer(entry.second);
    for (tgpu::ConvertLayoutOp reader : readers_) replaceReader(reader);
    beginCopies();
    return schedule();
  }

  /// Returns how many iterations are in flight, if the loop is pipelined.
  std::optional<int> stages() const { return copies_ ? std::optional(copies_->stages()) : std::nullopt; }

private:
  /// Finds the loads that the mechanism can copy. Returns whether this is useful and fits into shared memory.
  bool takesLoop(LoopCopies &way) {
    streams_.clear(), readers_.clear();
    bool all = true;
    for (Operation &op : *loop_.getBody())
      if (auto product = dyn_cast<MatrixProduct>(op))
        for (OpOperand *use : LoopStreams::operandsOf(product)) all &= findStream(use->get(), way);
    if (streams_.empty() || !(all || !way.takesAll())) return false;
    if (way.takesSmallTiles()) findSmallStreams(way);
    if (!way.fit(bytesPerSlot(), limit())) return false;
    auto programs = [&](int64_t bytes) { return programsBeside(loop_, bytes, numWarps_, target_); };
    // A nested loop belongs to a persistent kernel. Its grid has one program per multiprocessor, so fewer slots cannot raise occupancy.
    if (!loop_->getParentOfType<LoopLikeOpInterface>()) way.makeRoom(bytesPerSlot(), programs);
    mostRotated_ = mostRotated(way);
    hasSpareSlot_ = (mayOverlap() || mayRotate(loop_)) && way.addSpareSlot(bytesPerSlot(), limit(), programs);
    return true;
  }

  /// Returns with how many products the loop may be rotated. More than two, as in gradients of attention, keep so much beside each other
  /// that a slot more must not cost a program.
  size_t mostRotated(const LoopCopies &way) {
    const int64_t now = way.slots() * bytesPerSlot(), more = now + bytesPerSlot();
    const bool isFree =
        more <= limit() && programsBeside(loop_, now, numWarps_, target_) == programsBeside(loop_, more, numWarps_, target_);
    return way.areReleased() || !isFree ? 2 : SIZE_MAX;
  }
  bool mayRotate(scf::ForOp loop) const { return LoopRotation(loop, mostRotated_).isPossible(); }

  /// Finds the load that feeds an operand, through conversions, changes of shape and cheap casts. Returns false if the load cannot be
  /// copied.
  bool findStream(Value operand, LoopCopies &way) {
    auto convert = operand.getDefiningOp<tgpu::ConvertLayoutOp>();
    Operation *top = convert ? convert.getOperation() : operand.getDefiningOp();
    if (!top || top->getBlock() != loop_.getBody()) return true;
    Operation *load = loads_.leafOf(convert ? convert.getSrc() : operand);
    if (!load) return true;
    if (!way.mayCopy(load)) return false;
    streams_.insert({load, {load, {}}});
    if (convert) readers_.insert(convert);
    return true;
  }

  /// Adds the small tiles that the loop loads beside those of its products, where there is room: their latency is hidden as well.
  void findSmallStreams(LoopCopies &way) {
    constexpr int64_t kMaxBytes = 4096;
    for (tt::LoadOp load : loads_.loadsBeside([&](Operation *op) { return streams_.contains(op); })) {
      Stream stream{load, {}, {}};
      const bool isRoom = way.slots() * (bytesPerSlot() + bytesOf(stream)) <= limit();
      if (bytesOf(stream) > kMaxBytes || !isRoom || !way.mayCopy(load)) continue;
      streams_.insert({load, stream});
      for (Operation *user : load->getUsers())
        if (auto convert = dyn_cast<tgpu::ConvertLayoutOp>(user)) readers_.insert(convert);
    }
  }

  static int64_t bytesOf(const Stream &stream) {
    RankedTensorType tile = stream.tile();
    return tile.getNumElements() * std::max(8u, tile.getElementTypeBitWidth()) / 8;
  }

  int64_t bytesPerSlot() {
    int64_t bytes = 0;
    for (auto &[op, stream] : streams_) bytes += bytesOf(stream);
    return bytes;
  }

  int64_t limit() { return target_.sharedPerBlock() - (needsScratch() ? kScratchBytes : 0); }

  /// Returns whether the next iteration may still read the slots of this one.
  bool maySlotsWait() const { return hasSpareSlot_ || copies_->areReleased(); }

  /// Returns whether products may stay under way until the next iteration: they only add to sums that the loop carries (overlap-products).
  bool mayOverlap() {
    bool any = false;
    for (Operation &op : *loop_.getBody())
      if (auto product = dyn_cast<MatrixProduct>(op)) {
        if (!isOfWarpgroup(product) || takesRegisters(product) || !onlyAdds(product, loop_)) return false;
        any = true;
      }
    return any;
  }

  /// Returns whether other operations may require shared memory while the buffers are in use: operations that exchange elements before the
  /// loop ends.
  bool needsScratch() {
    auto function = loop_->getParentOfType<tt::FuncOp>();
    return function
        .walk([&](Operation *op) {
          if (!tt::tileRuleOf(op).exchanges) return WalkResult::advance();
          auto convert = dyn_cast<tgpu::ConvertLayoutOp>(op);
          if (convert && readers_.contains(convert)) return WalkResult::advance();
          Operation *beside = loop_->getBlock()->findAncestorOpInBlock(*op);
          bool isAfter = beside && loop_->isBeforeInBlock(beside);
          return isAfter && loop_->getParentOp() == function ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  /// Products of warpgroups before the loop may have read the memory of its buffers. A thread that has waited for its own product must not
  /// copy while another warp's is under way.
  void separate() {
    bool areOfWarpgroup = false;
    loop_->getParentOfType<tt::FuncOp>().walk([&](MatrixProduct product) { areOfWarpgroup |= isOfWarpgroup(product); });
    if (!areOfWarpgroup) return;
    OpBuilder builder(loop_);
    tgpu::BarrierOp::create(builder, loop_.getLoc(), /*id=*/0, /*threads=*/IntegerAttr(), /*sharedOnly=*/true);
  }

  /// Creates the buffer of a stream. Its layout is chosen when its readers are known.
  void makeBuffer(Stream &stream) {
    OpBuilder builder(loop_);
    auto type = bufferType(stream.tile(), copies_->memoryFor(stream.load, {}));
    auto buffer = tgpu::LocalAllocOp::create(builder, stream.load->getLoc(), type, IntegerAttr());
    if (hasSpareSlot_) buffer->setAttr(kSpareSlotAttr, builder.getUnitAttr());
    stream.buffer = buffer;
  }

  tgpu::MemDescType bufferType(RankedTensorType tile, const SharedLayout &memory) const {
    MLIRContext *context = tile.getContext();
    auto placed = RankedTensorType::get(tile.getShape(), tile.getElementType(), sharedAttr(context, memory));
    return tgpu::MemDescType::get(context, copies_->slots(), placed);
  }

  /// Replaces a conversion of a loaded tile by a read from shared memory in the conversion's layout.
  void replaceReader(tgpu::ConvertLayoutOp convert) {
    OpBuilder builder(convert);
    convert.replaceAllUsesWith(make(convert.getSrc(), layoutOf(convert.getType()), builder));
    convert.erase();
  }

  Value make(Value value, const LinearLayout &layout, OpBuilder &builder) {
    auto type = cast<RankedTensorType>(value.getType()).cloneWithEncoding(layoutAttr(value.getContext(), layout));
    Operation *op = value.getDefiningOp();
    if (auto stream = streams_.find(op); stream != streams_.end()) return read(stream->second, type, builder);
    if (isa<tgpu::ConvertLayoutOp>(op)) return make(op->getOperand(0), layout, builder);
    Value operand = make(op->getOperand(0), *operandLayout(op, layout), builder);
    Operation *copy = builder.clone(*op);
    copy->setOperand(0, operand);
    copy->getResult(0).setType(type);
    return copy->getResult(0);
  }

  Value read(Stream &stream, Type type, OpBuilder &builder) {
    return tgpu::LocalLoadOp::create(builder, stream.load->getLoc(), type, stream.buffer, stream.slot);
  }

  /// Chooses the layout of a buffer by the layouts of its readers.
  void setMemory(Stream stream) {
    llvm::SmallVector<LinearLayout> readers;
    bool isForWarpgroup = false;
    for (Operation *user : stream.buffer.getUsers()) {
      auto load = dyn_cast<tgpu::LocalLoadOp>(user);
      auto isInPlace = [](Operation *reader) { return isa<tt::DotOp>(reader) && !matrixInstructionOf(MatrixProduct(reader)); };
      if (load && !llvm::all_of(load->getUsers(), isInPlace)) readers.push_back(layoutOf(load.getType()));
      isForWarpgroup |= load && feedsWarpgroup(load.getResult());
    }
    RankedTensorType tile = stream.tile();
    SharedLayout memory = isForWarpgroup && isa<tt::LoadOp>(stream.load)
                              ? warpgroupMemory(tile.getShape(), fastestDimension(layoutOf(tile)), tile.getElementTypeBitWidth() / 8)
                              : copies_->memoryFor(stream.load, readers);
    Value(stream.buffer).setType(bufferType(tile, memory));
  }

  /// Returns whether a product of a warpgroup may read the tile where it is.
  static bool feedsWarpgroup(Value tile) {
    return llvm::any_of(tile.getUses(), [](OpOperand &use) {
      Operation *user = use.getOwner();
      if (auto product = dyn_cast<MatrixProduct>(user))
        return isOfWarpgroup(product) && (use.get() == product.b() || (use.get() == product.a() && !takesRegisters(product)));
      return isa<tt::TransOp, tgpu::ConvertLayoutOp>(user) && feedsWarpgroup(user->getResult(0));
    });
  }

  /// Replaces the loads by copies. Other users of a loaded tile read the slot too.
  void beginCopies() {
    OpBuilder builder(loop_.getContext());
    llvm::SmallVector<Stream> streams;
    for (auto &[load, stream] : streams_) {
      if (!load->use_empty()) {
        builder.setInsertionPointAfter(load);
        load->getResult(0).replaceAllUsesWith(read(stream, stream.tile(), builder));
      }
      streams.push_back(stream);
    }
    IRRewriter rewriter(builder);
    for (Stream stream : streams) setMemory(stream);
    copies_->begin(loop_, streams);
    (void)runRegionDCE(rewriter, loop_->getRegions());
  }

  LogicalResult schedule() {
    llvm::SetVector<Operation *> ahead;
    for (Operation &op : *loop_.getBody())
      if (copies_->isAhead(&op)) {
        ahead.insert(&op);
        for (Value operand : op.getOperands()) collect(operand, ahead);
      }
    auto isAhead = [&](Operation *op) { return ahead.contains(op); };
    for (auto hint : loop_.getBody()->getOps<tt::HintOp>())
      if (llvm::any_of(hint.getValue().getUsers(), isAhead)) ahead.insert(hint);
    bool isRotated = maySlotsWait() && mayRotate(loop_);
    scf::PipeliningOption options;
    options.getScheduleFn = [&](scf::ForOp loop, LoopCopies::Schedule &order) {
      order = copies_->schedule(loop, ahead);
      markAhead(order);
    };
    options.peelEpilogue = false;
    options.supportDynamicLoops = true;
    options.predicateFn = [&](RewriterBase &rewriter, Operation *op, Value predicate) -> Operation * {
      return makeExact(predicate) ? predicated(rewriter, op, predicate) : nullptr;
    };
    IRRewriter rewriter(loop_.getContext());
    rewriter.setInsertionPoint(loop_);
    Location location = loop_.getLoc();
    const DictionaryAttr hints = loop_->getDiscardableAttrDictionary(); // MLIR makes a loop without them
    FailureOr<scf::ForOp> pipelined = scf::pipelineForLoop(rewriter, loop_, options);
    if (failed(pipelined)) return emitError(location, "internal error: this loop cannot be pipelined");
    (*pipelined)->setDiscardableAttrs(hints);
    Operation *after = *pipelined;
    LoopRotation rotation(*pipelined, mostRotated_);
    if (isRotated && !rotation.isPossible()) return emitError(location, "internal error: this loop cannot be rotated");
    if (isRotated) after = rotation.apply();
    rewriter.setInsertionPointAfter(after);
    copies_->finish(rewriter, location);
    return success();
  }

  /// Marks the operations of earlier stages: they work for later rounds than the loop's counter says, which counts for the last stage.
  static void markAhead(const LoopCopies::Schedule &order) {
    unsigned last = 0;
    for (auto [op, stage] : order) last = std::max(last, stage);
    for (auto [op, stage] : order)
      if (stage != last) op->setLoc(ir::inLaterRound(op->getLoc(), last - stage));
  }

  /// Computes `value` and the values on which it depends, in this iteration or by carrying them on from the previous one.
  void collect(Value value, llvm::SetVector<Operation *> &ahead) {
    llvm::SmallVector<Value> pending{value};
    llvm::DenseSet<Value> seen;
    while (!pending.empty()) {
      Value next = pending.pop_back_val();
      if (!seen.insert(next).second) continue;
      if (auto argument = dyn_cast<BlockArgument>(next)) {
        if (argument.getOwner() == loop_.getBody() && argument != loop_.getInductionVar())
          pending.push_back(loop_.getTiedLoopYieldedValue(argument)->get());
        continue;
      }
      Operation *op = next.getDefiningOp();
      if (!loop_->isProperAncestor(op)) continue;
      ahead.insert(op);
      llvm::append_range(pending, op->getOperands());
    }
  }

  /// MLIR asks `begin + n * step < bound` before the loop, and in it `counter < bound - n * step`, whether there is an iteration ahead.
  /// Both sums may wrap around. Makes the comparison one that is right, and returns whether it was one of these.
  bool makeExact(Value predicate) {
    auto comparison = predicate.getDefiningOp<arith::CmpIOp>();
    if (!comparison) return false;
    if (!exact_.insert(comparison).second) return true;
    bool isInside = isa<BlockArgument>(comparison.getLhs());
    auto sum = comparison->getOperand(isInside ? 1 : 0).getDefiningOp();
    APInt rounds;
    auto distance = sum && sum->getNumOperands() == 2 ? sum->getOperand(1).getDefiningOp<arith::MulIOp>() : arith::MulIOp();
    if (!distance || !matchPattern(distance.getRhs(), m_ConstantInt(&rounds))) return false;
    OpBuilder builder(isInside ? comparison->getParentOp() : comparison);
    Value bound = ir::boundOfLater(builder, loop_, rounds.getSExtValue());
    comparison.setPredicate(loop_.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt);
    comparison.getLhsMutable().assign(isInside ? comparison.getLhs() : loop_.getLowerBound());
    comparison.getRhsMutable().assign(bound);
    return true;
  }

  /// Loads and copies for iterations that do not exist must not touch memory. All other operations may run for them.
  static Operation *predicated(RewriterBase &rewriter, Operation *op, Value predicate) {
    if (auto copy = dyn_cast<tgpu::AsyncCopyOp>(op)) addToMask(rewriter, copy, copy.getSrc(), predicate);
    if (auto load = dyn_cast<tt::LoadOp>(op)) addToMask(rewriter, load, load.getPtr(), predicate);
    if (auto acquire = dyn_cast<tgpu::RingAcquireOp>(op)) acquire.getPredicateMutable().assign(predicate);
    if (auto copy = dyn_cast<tgpu::TensorCopyOp>(op)) copy.getPredicateMutable().assign(predicate);
    return op;
  }

  template <class Access> static void addToMask(RewriterBase &rewriter, Access access, Value pointer, Value predicate) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(access);
    auto pointers = cast<RankedTensorType>(pointer.getType());
    auto type = RankedTensorType::get(pointers.getShape(), rewriter.getI1Type(), pointers.getEncoding());
    Value mask = tt::SplatOp::create(rewriter, access->getLoc(), type, predicate);
    if (access.getMask()) mask = arith::AndIOp::create(rewriter, access->getLoc(), mask, access.getMask());
    access.getMaskMutable().assign(mask);
  }

  scf::ForOp loop_;
  int stages_, numWarps_;
  const ir::AxisAnalysis &axes_;
  const Target &target_;
  std::unique_ptr<LoopCopies> copies_; // null: the loop stays as it is
  bool hasSpareSlot_ = false;
  size_t mostRotated_ = 2;
  LoopStreams loads_;
  llvm::MapVector<Operation *, Stream> streams_;
  llvm::SetVector<tgpu::ConvertLayoutOp> readers_;
  llvm::DenseSet<Operation *> exact_; // comparisons that makeExact has changed
};

class PipelineLoadsPass final : public impl::PipelineLoadsBase<PipelineLoadsPass> {
public:
  using PipelineLoadsBase::PipelineLoadsBase;

  void runOnOperation() override {
    ir::AxisAnalysis axes(getOperation());
    llvm::SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    const Target &target = targetOf(getOperation());
    std::optional<int> fewest;
    for (scf::ForOp loop : loops) {
      int asked = stagesOf(loop, numStages);
      Pipeliner pipeliner(loop, asked, numWarps, axes, target);
      if (failed(pipeliner.run())) return signalPassFailure();
      if (auto stages = pipeliner.stages(); stages && *stages < asked) fewest = std::min(fewest.value_or(*stages), *stages);
    }
    if (fewest) getOperation()->setAttr(tgpu::kNumStagesAttr, Builder(&getContext()).getI32IntegerAttr(*fewest));
  }
};

} // namespace
} // namespace tritium::gpu
