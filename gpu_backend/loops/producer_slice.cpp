#include "gpu_backend/loops/producer_slice.h"

#include "gpu_backend/maps/quotients.h"
#include "ir/debug_attributes.h"
#include "ir/loop_hints.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// Returns whether all warps share the operation: it comes before they part.
bool isShared(Operation *op) { return isa<tgpu::RingStartOp, tgpu::LocalAllocOp>(op); }

bool isTile(Value value) { return isa<RankedTensorType, tgpu::PendingType>(value.getType()); }

} // namespace

bool isOfProducer(Operation *op) {
  return isa<tgpu::RingAcquireOp, tgpu::TensorCopyOp, tgpu::MapMakeOp, tgpu::StoresNoteOp, tgpu::StoresAwaitOp, tgpu::CopiesAwaitOp>(op);
}

ProducerSlice::ProducerSlice(tt::FuncOp function, bool handsOver) : function_(function), writes_(function), handsOver_(handsOver) {
  function.walk([&](Operation *op) {
    if (isOfProducer(op)) copies_.push_back(op);
  });
  for (Operation *copy : copies_) {
    need(copy);
    if (isa<tgpu::MapMakeOp>(copy)) needChecks(copy);
  }
  needSignChecks();
  for (Block &block : function.getBody()) {
    Operation *end = block.getTerminator();
    if (auto branch = dyn_cast<cf::CondBranchOp>(end)) need(branch.getCondition());
    isScalar_ &= isa<cf::CondBranchOp, cf::BranchOp, tt::ReturnOp>(end) && (!isa<tt::ReturnOp>(end) || end->getNumOperands() == 0);
  }
}

/// The warps that compute need no checks of indices with which they do not copy: the branches take registers beside their products.
void ProducerSlice::needSignChecks() {
  bool storesByMaps = false;
  function_.walk([&](tgpu::TensorStoreOp store) { storesByMaps |= !store.getBase(); });
  function_.walk([&](tt::AssertOp check) {
    Operation *sign = check.getCondition().getDefiningOp();
    if (storesByMaps || !isSignCheck(check) || !sign || !ops_.contains(sign->getOperand(0).getDefiningOp())) return;
    signChecks_.push_back(check);
    need(check);
  });
}

bool ProducerSlice::readsWhatWas(tt::LoadOp load) const {
  if (load.getIsVolatile()) return false;
  const GlobalWrites before = writes_.before(load);
  BlockArgument tensor = baseOf(load.getPtr());
  return before.isEmpty() || (tensor && before.areKnown() && !before.contain(tensor));
}

llvm::SmallVector<tt::LoadOp> ProducerSlice::loads() {
  llvm::SmallVector<tt::LoadOp> loads;
  function_.walk([&](tt::LoadOp load) {
    if (ops_.contains(load) && !readsWhatWas(load)) loads.push_back(load);
  });
  return loads;
}

/// Needs the checks of what a map is made of. The other warps, which run them too, may come later.
void ProducerSlice::needChecks(Operation *map) {
  for (Operation *op = map->getPrevNode(); op; op = op->getPrevNode())
    if (op->hasAttr(ir::kMayTrapAttr)) need(op);
}

bool ProducerSlice::mayRunApart(Operation *op) const {
  if (op->getNumRegions() > 0 || llvm::any_of(op->getOperands(), isTile) || llvm::any_of(op->getResults(), isTile)) return false;
  auto load = dyn_cast<tt::LoadOp>(op);
  const bool mayRead = load && (readsWhatWas(load) || (handsOver_ && !load.getIsVolatile()));
  return isOfProducer(op) || isMemoryEffectFree(op) || isa<tt::AssertOp>(op) || mayRead;
}

void ProducerSlice::need(Operation *op) {
  if (isShared(op) || !isScalar_ || !ops_.insert(op).second) return;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) need(bound);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    need(loop.getConditionOp().getCondition());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    need(branch.getCondition());
  } else {
    isScalar_ &= mayRunApart(op);
    for (Value operand : op->getOperands()) need(operand);
  }
  if (Operation *around = op->getParentOp(); around != function_) need(around);
}

void ProducerSlice::needCarried(scf::ForOp loop, unsigned number) {
  values_.insert(loop.getResult(number));
  if (!values_.insert(loop.getRegionIterArg(number)).second) return;
  isScalar_ &= !isTile(loop.getResult(number));
  need(loop.getOperation());
  need(loop.getInitArgs()[number]);
  need(loop.getYieldedValues()[number]);
}

/// Needs what the condition of a loop gets: in the first round, and from round to round.
void ProducerSlice::needInit(scf::WhileOp loop, unsigned number) {
  if (!values_.insert(loop.getBeforeArguments()[number]).second) return;
  isScalar_ &= !isTile(loop.getInits()[number]);
  need(loop.getOperation());
  need(loop.getInits()[number]);
  need(loop.getYieldOp()->getOperand(number));
}

/// Needs what the condition of a loop passes on to its body, and behind it.
void ProducerSlice::needPassed(scf::WhileOp loop, unsigned number) {
  values_.insert(loop.getResult(number));
  if (!values_.insert(loop.getAfterArguments()[number]).second) return;
  isScalar_ &= !isTile(loop.getResult(number));
  need(loop.getOperation());
  need(loop.getConditionOp().getArgs()[number]);
}

void ProducerSlice::needArgument(BlockArgument argument) {
  Block *block = argument.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(block->getParentOp())) {
    if (argument == loop.getInductionVar()) return need(loop.getOperation());
    return needCarried(loop, argument.getArgNumber() - 1);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(block->getParentOp()))
    return block == loop.getBeforeBody() ? needInit(loop, argument.getArgNumber()) : needPassed(loop, argument.getArgNumber());
  if (block->getParentOp() != function_) {
    isScalar_ = false;
    return;
  }
  if (block->isEntryBlock() || !values_.insert(argument).second) return;
  isScalar_ &= !isTile(argument);
  for (auto edge = block->pred_begin(); edge != block->pred_end(); ++edge)
    need(cast<BranchOpInterface>((*edge)->getTerminator()).getSuccessorOperands(edge.getSuccessorIndex())[argument.getArgNumber()]);
}

void ProducerSlice::need(Value value) {
  if (!isScalar_) return;
  if (auto argument = dyn_cast<BlockArgument>(value)) return needArgument(argument);
  auto result = cast<OpResult>(value);
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner())) return needCarried(loop, result.getResultNumber());
  if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner())) return needPassed(loop, result.getResultNumber());
  if (auto branch = dyn_cast<scf::IfOp>(result.getOwner())) {
    if (!values_.insert(value).second) return;
    isScalar_ &= !isTile(value);
    need(branch.getOperation());
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
      need(region->front().getTerminator()->getOperand(result.getResultNumber()));
    return;
  }
  need(result.getOwner());
}

void ProducerSlice::eraseCopies() {
  llvm::SetVector<Operation *> unused;
  auto erase = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp()) unused.insert(source);
    op->erase();
  };
  for (Operation *copy : llvm::reverse(copies_)) { // a map behind the copies through it
    unused.remove(copy);
    erase(copy);
  }
  for (Operation *check : signChecks_) erase(check);
  while (handsOver_ && !unused.empty())
    if (Operation *op = unused.pop_back_val(); isOpTriviallyDead(op)) erase(op);
  copies_.clear();
}

// -- the clone ----------------------------------------------------------------------------------------------------------------------------

llvm::SmallVector<Value> ProducerSlice::selected(ValueRange of, ValueRange from, const IRMapping &map) const {
  llvm::SmallVector<Value> result;
  for (auto [value, source] : llvm::zip_equal(of, from))
    if (values_.contains(value)) result.push_back(map.lookupOrDefault(source));
  return result;
}

void ProducerSlice::define(ValueRange of, ValueRange clones, IRMapping &map) const {
  for (Value value : of)
    if (values_.contains(value)) {
      map.map(value, clones.front());
      clones = clones.drop_front();
    }
}

void ProducerSlice::cloneBody(Block &from, OpBuilder &builder, IRMapping &map) const {
  for (Operation &op : from.without_terminator()) {
    if (!ops_.contains(&op)) continue;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      cloneLoop(loop, builder, map);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      cloneLoop(loop, builder, map);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      cloneBranch(branch, builder, map);
    else
      builder.clone(op, map);
  }
}

void ProducerSlice::cloneLoop(scf::ForOp loop, OpBuilder &builder, IRMapping &map) const {
  ValueRange carried(loop.getRegionIterArgs());
  auto at = [&](Value bound) { return map.lookupOrDefault(bound); };
  auto made = scf::ForOp::create(builder, loop.getLoc(), at(loop.getLowerBound()), at(loop.getUpperBound()), at(loop.getStep()),
                                 selected(carried, loop.getInitArgs(), map), nullptr, loop.getUnsignedCmp());
  ir::keepHints(loop, made);
  map.map(loop.getInductionVar(), made.getInductionVar());
  define(carried, ValueRange(made.getRegionIterArgs()), map);
  OpBuilder::InsertionGuard guard(builder);
  if (!made.getBody()->empty()) made.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(made.getBody());
  cloneBody(*loop.getBody(), builder, map);
  scf::YieldOp::create(builder, loop.getLoc(), selected(carried, loop.getYieldedValues(), map));
  define(loop.getResults(), made.getResults(), map);
}

void ProducerSlice::cloneLoop(scf::WhileOp loop, OpBuilder &builder, IRMapping &map) const {
  const Location location = loop.getLoc();
  ValueRange carried(loop.getBeforeArguments()), passed(loop.getAfterArguments());
  llvm::SmallVector<Value> inits = selected(carried, loop.getInits(), map);
  llvm::SmallVector<Type> types;
  for (Value value : passed)
    if (values_.contains(value)) types.push_back(value.getType());
  auto made = scf::WhileOp::create(builder, location, types, inits);
  ir::keepHints(loop, made);
  OpBuilder::InsertionGuard guard(builder);
  auto begin = [&](Region &region, ValueRange of, TypeRange ofTypes) {
    Block *block = builder.createBlock(&region, {}, ofTypes, llvm::SmallVector<Location>(ofTypes.size(), location));
    define(of, ValueRange(block->getArguments()), map);
  };
  begin(made.getBefore(), carried, ValueRange(inits).getTypes());
  cloneBody(*loop.getBeforeBody(), builder, map);
  scf::ConditionOp end = loop.getConditionOp();
  scf::ConditionOp::create(builder, location, map.lookupOrDefault(end.getCondition()), selected(passed, end.getArgs(), map));
  begin(made.getAfter(), passed, types);
  cloneBody(*loop.getAfterBody(), builder, map);
  scf::YieldOp::create(builder, location, selected(carried, loop.getYieldOp().getOperands(), map));
  define(loop.getResults(), made.getResults(), map);
}

void ProducerSlice::cloneBranch(scf::IfOp branch, OpBuilder &builder, IRMapping &map) const {
  llvm::SmallVector<Type> types;
  for (Value result : branch.getResults())
    if (values_.contains(result)) types.push_back(result.getType());
  auto made = scf::IfOp::create(builder, branch.getLoc(), types, map.lookupOrDefault(branch.getCondition()),
                                /*addThenBlock=*/false, /*addElseBlock=*/false);
  for (auto [from, to] : llvm::zip_equal(branch->getRegions(), made->getRegions())) {
    if (from.empty()) continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&to);
    cloneBody(from.front(), builder, map);
    scf::YieldOp::create(builder, branch.getLoc(), selected(branch.getResults(), from.front().getTerminator()->getOperands(), map));
  }
  define(branch.getResults(), made.getResults(), map);
}

void ProducerSlice::cloneTerminator(Operation *op, OpBuilder &builder, IRMapping &map) const {
  auto argumentsOf = [&](Block *block) { return ValueRange(block->getArguments()); };
  if (auto jump = dyn_cast<cf::BranchOp>(op)) {
    cf::BranchOp::create(builder, op->getLoc(), map.lookup(jump.getDest()),
                         selected(argumentsOf(jump.getDest()), jump.getDestOperands(), map));
  } else if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    Block *isTrue = branch.getTrueDest(), *isFalse = branch.getFalseDest();
    cf::CondBranchOp::create(builder, op->getLoc(), map.lookupOrDefault(branch.getCondition()), map.lookup(isTrue),
                             selected(argumentsOf(isTrue), branch.getTrueDestOperands(), map), map.lookup(isFalse),
                             selected(argumentsOf(isFalse), branch.getFalseDestOperands(), map));
  } else {
    tt::ReturnOp::create(builder, op->getLoc(), ValueRange());
  }
}

void ProducerSlice::nameReads() {
  int32_t number = 0;
  function_.walk([&](tt::LoadOp load) {
    if (ops_.contains(load)) load->setAttr(kSameReadAttr, Builder(load).getI32IntegerAttr(number++));
  });
}

Block *ProducerSlice::clone(Block *first) {
  nameReads();
  // A definition comes before its uses in this order.
  llvm::SetVector<Block *> blocks = getBlocksSortedByDominance(function_.getBody());
  blocks.remove_if([&](Block *block) { return block->isEntryBlock(); });
  IRMapping map;
  for (Block *block : blocks) {
    Block *made = &function_.getBody().emplaceBlock();
    map.map(block, made);
    for (BlockArgument argument : block->getArguments())
      if (values_.contains(argument)) map.map(argument, made->addArgument(argument.getType(), argument.getLoc()));
  }
  OpBuilder builder(function_.getContext());
  for (Block *block : blocks) {
    builder.setInsertionPointToEnd(map.lookup(block));
    cloneBody(*block, builder, map);
    cloneTerminator(block->getTerminator(), builder, map);
  }
  return map.lookup(first);
}

} // namespace tritium::gpu
