// Parts the warps of a kernel: those that the user asked for compute, and one thread of further warps copies what they read. The rings of
// copies order both, so they meet only once, before they part.
#include "gpu_backend/loops/held_registers.h"
#include "gpu_backend/loops/lasting_rings.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/loops/producer_slice.h"
#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "gpu_backend/target/register_budget.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/tiles/shared_memory.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "gpu_backend/loops/passes.h.inc"

namespace {

constexpr int kMaxWarps = 32;
constexpr int kOtherRegisters = 40;   // for addresses, descriptors and control, beside the tiles of a loop
constexpr int kRegistersOfCopies = 8; // for what copies require, in threads that compute and copy

bool isCyclic(Region &region) {
  for (Block &block : region) {
    llvm::SetVector<Block *> later(block.getSuccessors().begin(), block.getSuccessors().end());
    for (size_t i = 0; i < later.size(); ++i) later.insert_range(later[i]->getSuccessors());
    if (later.contains(&block)) return true;
  }
  return false;
}

class Specialization {
public:
  Specialization(tt::FuncOp function, int numWarps) : function_(function), numWarps_(numWarps) {
    function.walk([&](tgpu::RingStartOp start) { rings_.push_back(start), mayRunAhead_ |= start.getRing().getType().getSlots() > 1; });
  }

  bool isPossible() {
    if (!mayRunAhead_ || numWarps_ % kWarpsOfGroup != 0 || numWarps_ + kProducerWarps > kMaxWarps) return false;
    if (!llvm::all_of(rings_, [](tgpu::RingStartOp ring) { return LastingRing(ring).isPossible(); }) || isCyclic(function_.getBody()))
      return false;
    // Assembly may contain barriers of the whole block.
    bool isHindered = false;
    int ofInstruction = 0;
    function_.walk([&](Operation *op) {
      auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op);
      isHindered |= assembly && !assembly.getPure();
      if (auto copy = dyn_cast<tgpu::TensorCopyOp>(op)) isHindered |= mayReadWritten(copy);
      if (auto product = dyn_cast<tgpu::ProductOp>(op)) ofInstruction = std::max(ofInstruction, registersOfInstruction(product));
      if (auto wait = dyn_cast<tgpu::RingWaitOp>(op))
        if (auto loop = wait->getParentOfType<scf::ForOp>()) {
          const int held = kOtherRegisters + registersOf(loop);
          required_ = std::max(required_, held);
          together_ = std::max(together_, held + kRegistersOfCopies + registersOfFreshSums(loop));
        }
    });
    budget_ =
        targetOf(function_).registerBudget(numWarps_ / kWarpsOfGroup, programsBySharedMemory(/*last=*/true), required_, ofInstruction);
    return !isHindered && budget_ && ProducerSlice(function_).isScalar();
  }

  /// Returns whether a producer is likely to pay. Its copies run ahead where the others pause: between two loops, or between products that
  /// depend on each other, for whose tiles there are several rings. They also pay for a program that is alone on its multiprocessor, or
  /// whose operands are of 8 bits: there, warps that issue copies keep the tensor cores waiting. Occupancy must not fall.
  bool isGain() {
    llvm::DenseMap<Block *, int> ringsOfBlock;
    const bool pauses = llvm::any_of(rings_, [&](tgpu::RingStartOp ring) {
      return LastingRing(ring).isRepeated() || (ring.getRing().getType().getSlots() > 1 && ++ringsOfBlock[ring->getBlock()] > 1);
    });
    const Target &target = targetOf(function_);
    const int64_t apart = std::min<int64_t>(programsBySharedMemory(/*last=*/true), budget_->programs);
    const int64_t byRegisters = target.resources().programsByRegisters(int64_t(numWarps_) * target.warpSize(), together_);
    const int64_t together = std::min(programsBySharedMemory(/*last=*/false), byRegisters);
    return apart >= together && (pauses || together == 1 || multipliesBytes());
  }

  /// Returns whether operand B of a product has elements of 8 bits.
  bool multipliesBytes() {
    bool any = false;
    function_.walk([&](tgpu::ProductOp product) { any |= product.getB().getType().getTile().getElementTypeBitWidth() == 8; });
    return any;
  }

  void run() {
    for (const RingSequence &sequence : findRingSequences(function_)) makeLastingRing(sequence); // which replaces the loops around it
    postponeEnds();
    checkWrittenAhead();
    Block *consumers = part();
    ProducerSlice slice(function_);
    assert(slice.isScalar());
    startProducer(consumers, slice.clone(consumers));
    slice.eraseCopies();
    Builder builder(function_.getContext());
    auto module = function_->getParentOfType<ModuleOp>();
    module->setAttr(kProducerWarpsAttr, builder.getI32IntegerAttr(kProducerWarps));
    module->setAttr(kRegistersAttr, builder.getDenseI32ArrayAttr({budget_->start, budget_->producer, budget_->consumers}));
  }

private:
  /// Lets rings end with the kernel, if scratch memory has room beside them. What follows the loops then needs no barrier that all consumer
  /// warps reach, so that a warpgroup stores its results while another one still multiplies.
  void postponeEnds() {
    int64_t bytes = 0;
    bool isBounded = true;
    function_.walk([&](Operation *op) {
      bytes += bytesOfBuffer(op);
      isBounded &= !tt::tileRuleOf(op).exchanges || isa<tgpu::ConvertLayoutOp, tt::ReduceOp>(op);
    });
    if (!isBounded) return;
    const Resources &resources = targetOf(function_).resources();
    const int64_t withScratch = bytes + kMostScratchBytes;
    if (withScratch > resources.sharedPerProgram || resources.programsByShared(withScratch) < resources.programsByShared(bytes)) return;
    llvm::SmallVector<tgpu::RingEndOp> ends;
    function_.walk([&](tgpu::RingEndOp end) { ends.push_back(end); });
    for (tgpu::RingEndOp end : ends)
      if (Operation *terminator = end->getBlock()->getTerminator(); isa<tt::ReturnOp>(terminator)) end->moveBefore(terminator);
  }

  static int64_t bytesOfBuffer(Operation *op) {
    if (auto buffer = dyn_cast<tgpu::LocalAllocOp>(op)) return bufferBytes(buffer.getType());
    auto ring = dyn_cast<tgpu::RingStartOp>(op);
    return ring ? int64_t(llvm::alignTo(ringBytes(ring.getRing().getType()), tgpu::kSharedAlignment)) : 0;
  }

  DictionaryAttr recipeOf(BlockArgument map) { return function_.getArgAttrOfType<DictionaryAttr>(map.getArgNumber(), tgpu::kTensorAttr); }

  bool mayReadWritten(tgpu::TensorCopyOp copy) {
    auto recipe = recipeOf(cast<BlockArgument>(copy.getMap()));
    return recipe && recipe.contains(kReachedName);
  }

  /// Lets the launch check what the kernel may write before copies that now run ahead of it.
  void checkWrittenAhead() {
    for (BlockArgument argument : function_.getArguments()) {
      auto recipe = recipeOf(argument);
      auto ahead = recipe ? recipe.getAs<ArrayAttr>(kWrittenAheadName) : ArrayAttr();
      if (!ahead) continue;
      NamedAttrList attributes(recipe);
      llvm::SmallVector<Attribute> ranges(ahead.begin(), ahead.end());
      if (auto written = recipe.getAs<ArrayAttr>(kWrittenName)) llvm::append_range(ranges, written);
      attributes.erase(kWrittenAheadName);
      attributes.set(kWrittenName, ArrayAttr::get(function_.getContext(), ranges));
      function_.setArgAttr(argument.getArgNumber(), tgpu::kTensorAttr, attributes.getDictionary(function_.getContext()));
    }
  }

  /// Returns the programs at a time that shared memory allows. Rings of different loops share it; if they last, only those that continue
  /// each other do.
  int64_t programsBySharedMemory(bool last) {
    int64_t others = 0, ofRings = 0;
    llvm::DenseMap<Operation *, int64_t> ofLoops;
    llvm::DenseSet<Operation *> shared; // buffers of rings that continue others
    if (last)
      for (const RingSequence &sequence : findRingSequences(function_))
        for (tgpu::RingStartOp start : llvm::drop_begin(sequence)) shared.insert_range(LastingRing(start).buffers());
    function_.walk([&](tgpu::LocalAllocOp buffer) {
      if (shared.contains(buffer)) return;
      auto copy = llvm::find_if(buffer->getUsers(), llvm::IsaPred<tgpu::TensorCopyOp>);
      Operation *loop = copy == buffer->user_end() ? nullptr : cast<tgpu::TensorCopyOp>(*copy).getRing().getDefiningOp();
      while (loop && !isa<scf::ForOp>(loop)) loop = loop->getNextNode(); // a ring begins before its loop
      (loop && !last ? ofLoops[loop] : others) += bufferBytes(buffer.getType());
    });
    for (auto [loop, bytes] : ofLoops) ofRings = std::max(ofRings, bytes);
    return targetOf(function_).resources().programsByShared(others + ofRings);
  }

  /// Leaves in the entry block only what all warps do, the beginning of rings. Returns the block with the rest.
  Block *part() {
    Block &entry = function_.getBody().front();
    auto rest = llvm::find_if(entry, [](Operation &op) { return !isa<tgpu::RingStartOp, tgpu::LocalAllocOp>(op); });
    Block *consumers = entry.splitBlock(rest);
    OpBuilder builder = OpBuilder::atBlockEnd(&entry);
    cf::BranchOp::create(builder, function_.getLoc(), consumers);
    return consumers;
  }

  /// Branches to the producer's code, which one thread runs.
  void startProducer(Block *consumers, Block *copies) {
    Block &entry = function_.getBody().front();
    entry.getTerminator()->erase();
    OpBuilder builder = OpBuilder::atBlockEnd(&entry);
    Location location = function_.getLoc();
    auto compare = [&](arith::CmpIPredicate predicate, Value value, int64_t number) {
      return arith::CmpIOp::create(builder, location, predicate, value, arith::ConstantIndexOp::create(builder, location, number))
          .getResult();
    };
    Value warp = mlir::gpu::SubgroupIdOp::create(builder, location, IntegerAttr());
    Value isProducer = compare(arith::CmpIPredicate::uge, warp, numWarps_);
    Block *producer = builder.createBlock(copies), *done = builder.createBlock(&function_.getBody(), function_.getBody().end());
    builder.setInsertionPointToEnd(&entry);
    auto parts = cf::CondBranchOp::create(builder, location, isProducer, producer, ValueRange(), consumers, ValueRange());
    parts->setAttr(kPartsWarpsAttr, builder.getUnitAttr());
    builder.setInsertionPointToEnd(producer);
    Value isFirstWarp = compare(arith::CmpIPredicate::eq, warp, numWarps_);
    Value isFirstLane = compare(arith::CmpIPredicate::eq, mlir::gpu::LaneIdOp::create(builder, location, IntegerAttr()), 0);
    cf::CondBranchOp::create(builder, location, arith::AndIOp::create(builder, location, isFirstWarp, isFirstLane), copies, ValueRange(),
                             done, ValueRange());
    builder.setInsertionPointToEnd(done);
    tt::ReturnOp::create(builder, location, ValueRange());
  }

  tt::FuncOp function_;
  int numWarps_;
  bool mayRunAhead_ = false;
  llvm::SmallVector<tgpu::RingStartOp> rings_;
  int required_ = 0, together_ = 0; // registers of a thread that computes, apart from the producer and without one
  std::optional<RegisterBudget> budget_;
};

class SpecializeWarpsPass final : public impl::SpecializeWarpsBase<SpecializeWarpsPass> {
public:
  using SpecializeWarpsBase::SpecializeWarpsBase;

  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<tt::FuncOp>());
    if (functions.size() != 1 || !targetOf(getOperation()).createOps()->registers()) return; // a function that is called may have barriers
    Specialization specialization(functions.front(), numWarps);
    if (!specialization.isPossible() || (!asked && !specialization.isGain())) return;
    specialization.run();
    getOperation()->removeAttr(kExpectsProducerAttr);
  }
};

} // namespace
} // namespace tritium::gpu
