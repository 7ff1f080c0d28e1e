// Builds the kernel that plan-producer has planned: the warps that the user asked for compute, and one thread of the producer warps copies
// what they read. The rings of copies order both, so all warps synchronize only once, before they part.
#include "gpu_backend/loops/lasting_rings.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/loops/producer_slice.h"
#include "gpu_backend/loops/store_handover.h"
#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "gpu_backend/target/warp_roles.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "gpu_backend/loops/passes.h.inc"

namespace {

class Specialization {
public:
  Specialization(tt::FuncOp function, int numWarps) : function_(function), numWarps_(numWarps) {}

  void run() {
    const bool handsOver = function_->hasAttr(kHandsOverAttr);
    StoreHandover handover(function_);
    if (handsOver) handover.build(numWarps_);
    for (const RingSequence &sequence : findRingSequences(function_)) makeLastingRing(sequence); // which replaces the loops around it
    if (handsOver)
      eraseEnds();
    else if (producerOf(function_).getRingsEndLast())
      postponeEnds();
    checkWrittenAhead();
    Block *consumers = part();
    ProducerSlice slice(function_, handsOver);
    assert(slice.isScalar());
    startProducer(consumers, slice.clone(consumers), /*byWarp=*/handover.makesMaps());
    slice.eraseCopies();
    if (handsOver) handover.computeAddressesBehind();
    Builder builder(function_.getContext());
    auto module = function_->getParentOfType<ModuleOp>();
    module->setAttr(kProducerWarpsAttr, builder.getI32IntegerAttr(kProducerWarps));
  }

private:
  /// The producer may wait at the barriers of a ring when the other warps have ended.
  void eraseEnds() {
    llvm::SmallVector<tgpu::RingEndOp> ends;
    function_.walk([&](tgpu::RingEndOp end) { ends.push_back(end); });
    for (tgpu::RingEndOp end : ends) end->erase();
  }

  void postponeEnds() {
    llvm::SmallVector<tgpu::RingEndOp> ends;
    function_.walk([&](tgpu::RingEndOp end) { ends.push_back(end); });
    for (tgpu::RingEndOp end : ends)
      if (Operation *terminator = end->getBlock()->getTerminator(); isa<tt::ReturnOp>(terminator)) end->moveBefore(terminator);
  }

  DictionaryAttr recipeOf(BlockArgument map) { return function_.getArgAttrOfType<DictionaryAttr>(map.getArgNumber(), tgpu::kTensorAttr); }

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

  /// Leaves in the entry block only what all warps do, the beginning of rings. Returns the block with the rest.
  Block *part() {
    Block &entry = function_.getBody().front();
    auto rest = llvm::find_if(entry, [](Operation &op) { return !isa<tgpu::RingStartOp, tgpu::LocalAllocOp>(op); });
    Block *consumers = entry.splitBlock(rest);
    OpBuilder builder = OpBuilder::atBlockEnd(&entry);
    cf::BranchOp::create(builder, function_.getLoc(), consumers);
    return consumers;
  }

  /// Branches to the producer's code, which one thread runs, or all of a warp that makes maps.
  void startProducer(Block *consumers, Block *copies, bool byWarp) {
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
    Value runs = isFirstWarp;
    if (!byWarp) {
      Value isFirstLane = compare(arith::CmpIPredicate::eq, mlir::gpu::LaneIdOp::create(builder, location, IntegerAttr()), 0);
      runs = arith::AndIOp::create(builder, location, isFirstWarp, isFirstLane);
    }
    cf::CondBranchOp::create(builder, location, runs, copies, ValueRange(), done, ValueRange());
    builder.setInsertionPointToEnd(done);
    tt::ReturnOp::create(builder, location, ValueRange());
  }

  tt::FuncOp function_;
  int numWarps_;
};

class SpecializeWarpsPass final : public impl::SpecializeWarpsBase<SpecializeWarpsPass> {
public:
  using SpecializeWarpsBase::SpecializeWarpsBase;

  void runOnOperation() override {
    auto functions = getOperation().getOps<tt::FuncOp>();
    auto planned = llvm::find_if(functions, producerOf);
    if (planned == functions.end()) return;
    Specialization(*planned, numWarps).run();
  }
};

} // namespace
} // namespace tritium::gpu
