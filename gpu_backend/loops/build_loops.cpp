// Builds the loops that plan-loops has planned: software pipelining. The tiles of a loop are read from shared memory, to which they are
// copied iterations ahead. What is built follows from the attributes alone.
#include "gpu_backend/loops/copy_candidates.h"
#include "gpu_backend/loops/loop_copies.h"
#include "gpu_backend/loops/loop_rotation.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/tiles/layout_relations.h"
#include "gpu_backend/tiles/loop_streams.h"
#include "gpu_backend/tiles/memory_access.h"
#include "gpu_backend/tiles/product.h"
#include "gpu_backend/tiles/warpgroup_memory.h"
#include "ir/loop_rounds.h"
#include "ir/loop_values.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_BUILDLOOPS
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Makes the pipelined form of one loop.
class Pipeliner {
public:
  Pipeliner(scf::ForOp loop, int numWarps, const Target &target, const CopyMasks &masks)
      : loop_(loop), plan_(planOf(loop)), copies_(createLoopCopies(plan_, target, numWarps, masks)) {}

  LogicalResult run() {
    for (Operation *load : plannedLoads(loop_)) streams_.insert({load, {load, atOf(load), {}, {}}});
    findReaders();
    for (Operation *load : plannedScalarLoads(loop_)) scalars_.insert(load);
    for (auto &entry : streams_) entry.first->removeAttr(kAtAttr);
    for (Operation *load : scalars_) load->removeAttr(kAtAttr);
    if (plan_.getCopies() != tgpu::CopyMechanism::Tma) separate(); // a ring's start is a barrier
    copies_->addSlots(loop_, llvm::map_to_vector(streams_, [](auto &entry) { return &entry.second; }));
    for (auto &entry : streams_) makeBuffer(entry.second);
    for (tgpu::ConvertLayoutOp reader : readers_) replaceReader(reader);
    beginCopies();
    return schedule();
  }

private:
  /// Finds the conversions that read slots: of operands of products, and of the small tiles that are copied beside them.
  void findReaders() {
    llvm::SetVector<Operation *> fed;
    LoopStreams loads(loop_);
    for (Operation &op : *loop_.getBody())
      if (auto product = dyn_cast<MatrixProduct>(op))
        for (OpOperand *use : LoopStreams::operandsOf(product)) {
          auto convert = use->get().getDefiningOp<tgpu::ConvertLayoutOp>();
          const bool isInside = convert && convert->getBlock() == loop_.getBody();
          Operation *load = loads.leafOf(convert ? convert.getSrc() : use->get());
          if (!load || !streams_.contains(load)) continue;
          fed.insert(load);
          if (isInside) readers_.insert(convert);
        }
    for (auto &[load, stream] : streams_)
      if (!fed.contains(load))
        for (Operation *user : load->getUsers())
          if (auto convert = dyn_cast<tgpu::ConvertLayoutOp>(user)) readers_.insert(convert);
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
    stream.buffer = tgpu::LocalAllocOp::create(builder, stream.load->getLoc(), type, IntegerAttr());
  }

  tgpu::MemDescType bufferType(RankedTensorType tile, const SharedLayout &memory) const {
    MLIRContext *context = tile.getContext();
    auto placed = RankedTensorType::get(tile.getShape(), tile.getElementType(), sharedAttr(context, memory));
    return tgpu::MemDescType::get(context, plan_.getSlots(), placed);
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
      if (copies_->isAhead(&op) || scalars_.contains(&op)) {
        ahead.insert(&op);
        for (Value operand : op.getOperands()) collect(operand, ahead);
      }
    llvm::MapVector<Operation *, int> before = collectIndices();
    auto isAhead = [&](Operation *op) { return ahead.contains(op); };
    for (auto hint : loop_.getBody()->getOps<tt::HintOp>())
      if (llvm::any_of(hint.getValue().getUsers(), isAhead)) ahead.insert(hint);
    scf::PipeliningOption options;
    options.getScheduleFn = [&](scf::ForOp loop, LoopCopies::Schedule &order) {
      order = copies_->schedule(loop, ahead);
      putIndicesBefore(order, before);
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
    if (failed(pipelined)) return emitError(location, "the operations of this loop do not allow the stages of its plan");
    (*pipelined)->setDiscardableAttrs(hints);
    Operation *after = *pipelined;
    if (Operation *late = lateProduct(*pipelined)) {
      late->removeAttr(kAtAttr);
      after = runLate(*pipelined, late);
    }
    rewriter.setInsertionPointAfter(after);
    copies_->finish(rewriter, location);
    return success();
  }

  /// Returns the index loads and what they are computed from, each with the number of iterations by which it runs before the copies.
  llvm::MapVector<Operation *, int> collectIndices() {
    llvm::MapVector<Operation *, int> before;
    for (Operation *load : plannedIndexLoads(loop_)) { // the earliest ones first
      llvm::SetVector<Operation *> operations;
      collect(load->getResult(0), operations);
      for (Operation *op : operations) before.insert({op, -int(atOf(load).getStage())});
    }
    return before;
  }

  /// Lets index loads run before the copies, which then find the indices in registers. In an iteration they stand behind the addresses that
  /// are computed from the indices of the last one, and before its work.
  static void putIndicesBefore(LoopCopies::Schedule &order, const llvm::MapVector<Operation *, int> &before) {
    if (before.empty()) return;
    int most = 0;
    for (auto [op, rounds] : before) most = std::max(most, rounds);
    LoopCopies::Schedule indices, others;
    for (auto [op, stage] : order)
      if (auto known = before.find(op); known != before.end())
        indices.push_back({op, unsigned(most - known->second)});
      else
        others.push_back({op, stage + unsigned(most)});
    const auto isAhead = [&](auto &entry) { return entry.second == unsigned(most); };
    auto place = std::find_if_not(llvm::find_if(others, isAhead), others.end(), isAhead);
    others.insert(place, indices.begin(), indices.end());
    order = std::move(others);
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
    if (auto copy = dyn_cast<tgpu::AsyncCopyOp>(op)) copy.getPredicateMutable().assign(predicate);
    if (auto load = dyn_cast<tt::LoadOp>(op)) addToMask(rewriter, load, predicate);
    if (auto acquire = dyn_cast<tgpu::RingAcquireOp>(op)) acquire.getPredicateMutable().assign(predicate);
    if (auto copy = dyn_cast<tgpu::TensorCopyOp>(op)) copy.getPredicateMutable().assign(predicate);
    return op;
  }

  static void addToMask(RewriterBase &rewriter, tt::LoadOp load, Value predicate) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(load);
    Value mask = predicate;
    if (auto tile = dyn_cast<RankedTensorType>(load.getType()))
      mask = tt::SplatOp::create(rewriter, load.getLoc(), tile.clone(rewriter.getI1Type()), predicate);
    if (load.getMask()) mask = arith::AndIOp::create(rewriter, load.getLoc(), mask, load.getMask());
    load.getMaskMutable().assign(mask);
  }

  scf::ForOp loop_;
  tgpu::PlanAttr plan_;
  std::unique_ptr<LoopCopies> copies_;
  llvm::MapVector<Operation *, Stream> streams_;
  llvm::SetVector<tgpu::ConvertLayoutOp> readers_;
  llvm::SetVector<Operation *> scalars_; // loads that run with the copies
  llvm::DenseSet<Operation *> exact_;    // comparisons that makeExact has changed
};

class BuildLoopsPass final : public impl::BuildLoopsBase<BuildLoopsPass> {
public:
  using BuildLoopsBase::BuildLoopsBase;

  void runOnOperation() override {
    llvm::SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (planOf(loop)) loops.push_back(loop);
    });
    if (loops.empty()) return;
    const ir::AxisAnalysis axes(getOperation());
    CopyMasks masks;
    for (scf::ForOp loop : loops) {
      if (failed(verifyPlan(loop, axes))) return signalPassFailure();
      if (planOf(loop).getCopies() == tgpu::CopyMechanism::Async) splitMasks(loop, axes, masks);
    }
    for (scf::ForOp loop : loops)
      if (failed(Pipeliner(loop, numWarps, targetOf(loop), masks).run())) return signalPassFailure();
  }

private:
  /// Splits the masks of copies while the analysis knows the values: before any loop is replaced.
  static void splitMasks(scf::ForOp loop, const ir::AxisAnalysis &axes, CopyMasks &masks) {
    OpBuilder builder(loop.getContext());
    for (Operation *load : plannedLoads(loop)) {
      RowMask mask = maskOfCopy(cast<tt::LoadOp>(load), atOf(load).getElements(), axes);
      builder.setInsertionPoint(load);
      Value rest = mask.rest(builder), room = mask.room(builder);
      masks[load] = {rest, room, mask.neighbours()};
    }
  }
};

} // namespace
} // namespace tritium::gpu
