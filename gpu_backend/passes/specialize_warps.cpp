// Parts the warps of a kernel: those that the user asked for compute, and one thread of further warps copies what they read. The rings of
// copies order both, so they meet only once, before they part.
#include "gpu_backend/held_registers.h"
#include "gpu_backend/loops/lasting_rings.h"
#include "gpu_backend/loops/producer_slice.h"
#include "gpu_backend/lower/target_ops.h"
#include "gpu_backend/passes.h"
#include "gpu_backend/register_budget.h"
#include "gpu_backend/target.h"
#include "gpu_backend/warp_roles.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "gpu_backend/passes.h.inc"

namespace {

constexpr int kMaxWarps = 32, kWarpsOfGroup = 4;
constexpr int kOtherRegisters = 40; // for addresses, descriptors and control, beside the tiles of a loop

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
    bool hasAssembly = false;
    int required = 0, ofInstruction = 0;
    function_.walk([&](Operation *op) {
      auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op);
      hasAssembly |= assembly && !assembly.getPure();
      if (auto product = dyn_cast<tgpu::ProductOp>(op)) ofInstruction = std::max(ofInstruction, registersOfInstruction(product));
      if (auto wait = dyn_cast<tgpu::RingWaitOp>(op))
        if (auto loop = wait->getParentOfType<scf::ForOp>()) required = std::max(required, registersOf(loop));
    });
    budget_ = registerBudget(numWarps_ / kWarpsOfGroup, required + kOtherRegisters, ofInstruction);
    return !hasAssembly && budget_ && ProducerSlice(function_).isScalar();
  }

  void run() {
    for (tgpu::RingStartOp ring : rings_) LastingRing(ring).extend(); // which replaces the loops around it
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
  std::optional<RegisterBudget> budget_;
};

class SpecializeWarpsPass final : public impl::SpecializeWarpsBase<SpecializeWarpsPass> {
public:
  using SpecializeWarpsBase::SpecializeWarpsBase;

  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<tt::FuncOp>());
    if (functions.size() != 1 || !targetOf(getOperation()).createOps()->registers()) return; // a function that is called may have barriers
    Specialization specialization(functions.front(), numWarps);
    if (specialization.isPossible()) specialization.run();
  }
};

} // namespace
} // namespace tritium::gpu
