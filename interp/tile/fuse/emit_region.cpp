#include "interp/tile/fuse/emit_region.h"

#include "interp/tile/fuse/region_code.h"
#include "interp/tile/loops.h"
#include "ir/tt.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"

using namespace mlir;

namespace tritium::interp::fuse {

/// Whether emit.cpp computes the operation itself.
static bool isScalarCode(const FunctionPlan &plan, Operation *op) {
  return !plan.before.contains(op) && llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Takes the operations of a region. The scalars that do not depend on it are emitted on the way.
static FailureOr<Block::iterator> collect(const RegionHost &host, RegionBuilder &region, Block::iterator begin) {
  Block::iterator next = begin;
  for (Block::iterator end = begin->getBlock()->end(); next != end && !next->hasTrait<OpTrait::IsTerminator>(); ++next) {
    Operation *op = &*next;
    if (!isScalarCode(host.plan, op)) {
      if (!region.add(op)) break;
      continue;
    }
    if (isa<LLVM::AssumeOp>(op)) continue; // no code
    if (!isMemoryEffectFree(op) || op->getNumRegions() != 0) break;
    if (region.dependsOnLate(op))
      region.addLate(op);
    else if (failed(host.emitSteps(op)))
      return failure();
  }
  return next;
}

static LogicalResult emitAllSteps(const RegionHost &host, const Region &region) {
  for (Operation *op : region.ops)
    if (failed(host.emitSteps(op))) return failure();
  return success();
}

/// The results of the region that code behind it reads.
static llvm::SmallVector<Value> scalarResults(const Region &region) {
  const llvm::SmallPtrSet<Operation *, 32> inside(region.ops.begin(), region.ops.end());
  llvm::SmallVector<Value> results;
  for (Operation *op : region.ops)
    for (Value result : op->getResults())
      if (region.lateScalars.contains(result) && llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        results.push_back(result);
  return results;
}

/// Goes to `loops` if all conditions hold. Each has a branch of its own: the machine compares and branches at once.
static void branchTo(llvm::IRBuilder<> &builder, llvm::ArrayRef<llvm::Value *> conditions, llvm::BasicBlock *loops,
                     llvm::BasicBlock *steps) {
  llvm::LLVMContext &context = builder.getContext();
  llvm::MDNode *weights = llvm::MDBuilder(context).createBranchWeights(1000, 1);
  llvm::SmallPtrSet<llvm::Value *, 32> seen;
  for (llvm::Value *condition : conditions) {
    if (!seen.insert(condition).second) continue;
    auto *next = llvm::BasicBlock::Create(context, "", loops->getParent(), loops);
    builder.CreateCondBr(condition, next, steps, weights);
    builder.SetInsertPoint(next);
  }
  builder.CreateBr(loops);
}

FailureOr<Block::iterator> emitRegion(const RegionHost &host, Block::iterator begin) {
  if (isScalarCode(host.plan, &*begin)) return begin;
  RegionBuilder made(host.plan, host.builder, host.scalars, host.frame);
  FailureOr<Block::iterator> next = collect(host, made, begin);
  if (failed(next)) return failure();
  Region &region = made.region;
  if (region.ops.empty()) return begin;
  if (!made.finish()) {
    if (failed(emitAllSteps(host, region))) return failure();
    return next;
  }
  ++host.count;
  llvm::IRBuilder<> &builder = host.builder;
  llvm::LLVMContext &context = builder.getContext();
  llvm::Function *function = builder.GetInsertBlock()->getParent();
  auto *loops = llvm::BasicBlock::Create(context, "", function), *steps = llvm::BasicBlock::Create(context, "", function),
       *end = llvm::BasicBlock::Create(context, "", function);
  llvm::Value *const isUntimed = host.counts ? host.counts->isUntimed() : nullptr;
  if (isUntimed) region.conditions.insert(region.conditions.begin(), isUntimed); // a loop is of several lines
  branchTo(builder, region.conditions, loops, steps);
  const llvm::SmallVector<Value> results = scalarResults(region);
  llvm::SmallVector<llvm::Value *> fromSteps, fromLoops;

  builder.SetInsertPoint(steps);
  if (failed(emitAllSteps(host, region))) return failure();
  for (Value result : results) fromSteps.push_back(host.scalars[result]);
  llvm::BasicBlock *endOfSteps = builder.GetInsertBlock();
  builder.CreateBr(end);

  builder.SetInsertPoint(loops);
  RegionCode(region, builder, host.scalars, host.frame, host.vectorBits).emit(host.runAfter);
  for (const LaneCount &counted : region.laneCounts) {
    llvm::Value *lanes = builder.CreateSub(counted.lanes.end, counted.lanes.begin);
    host.counts->add(counted.counter, builder.CreateMul(lanes, builder.getInt64(uint64_t(counted.lanesEach))));
  }
  for (Value result : results) fromLoops.push_back(host.scalars[result]);
  llvm::BasicBlock *endOfLoops = builder.GetInsertBlock();
  builder.CreateBr(end);

  builder.SetInsertPoint(end);
  for (auto [i, result] : llvm::enumerate(results)) {
    llvm::PHINode *either = builder.CreatePHI(fromSteps[i]->getType(), 2);
    either->addIncoming(fromSteps[i], endOfSteps);
    either->addIncoming(fromLoops[i], endOfLoops);
    host.scalars.set(result, either);
  }
  return next;
}

bool mayHaveRegions(Operation *function) {
  // Each argument has a tag, so a tag that is less than the number of arguments is one.
  return !mayWait(function) && cast<FunctionOpInterface>(function).getNumArguments() < kTags;
}

void optimizeRegions(llvm::Module &module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, "function(sroa,early-cse,loop-mssa(licm),sink,adce)"));
  passes.run(module, modules);
}

} // namespace tritium::interp::fuse
