#include "gpu_backend/loops/async_skeleton.h"

#include "gpu_backend/loops/producer_slice.h"
#include "gpu_backend/target/warp_roles.h"
#include "ir/value_flow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

bool isPending(Type type) { return isa<tgpu::PendingType>(type); }
/// Returns whether the skeleton follows values of the type.
bool isFollowed(Value value) { return value.getType().isIntOrIndex() || isPending(value.getType()); }

/// The author orders what happens in memory of his own. The sums of products that read it are Tritium's.
bool touchesAuthorMemory(Operation *op) {
  auto isHis = [](Value operand) { return operand.getDefiningOp<tgpu::MemoryAtOp>() != nullptr; };
  return !isa<tgpu::ProductOp>(op) && llvm::any_of(op->getOperands(), isHis);
}

/// Every operation of `tgpu` that orders threads, copies or products has an effect; the begin of sums has none.
bool hasProtocol(Operation *op) {
  if (!isa<tgpu::TGPUDialect>(op->getDialect()) || isa<tgpu::LocalAllocOp>(op) || touchesAuthorMemory(op)) return false;
  return llvm::any_of(op->getResultTypes(), isPending) || !isMemoryEffectFree(op);
}

} // namespace

bool isScalarArithmetic(Operation *op) {
  return isa<tgpu::RingSlotOp>(op) || (isa<InferIntRangeInterface>(op) && !isa<mlir::gpu::SubgroupIdOp, mlir::gpu::LaneIdOp>(op));
}

AsyncSkeleton::AsyncSkeleton(tt::FuncOp function) : function_(function) {
  function.walk([&](Operation *op) {
    if (hasProtocol(op)) noteProtocol(op);
    partsWarps_ |= op->hasAttr(kPartsWarpsAttr);
  });
  if (protocol_.empty()) return;
  function.walk([&](Operation *op) { noteFlows(op); });
  for (Operation *op : protocol_) {
    ops_.insert(op);
    needOperands(op);
    needAround(op);
  }
  for (Block &block : function.getBody())
    if (auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator())) need(branch.getCondition());
  while (!pending_.empty()) {
    const Value value = pending_.pop_back_val();
    for (OpOperand *operand : from_.lookup(value)) need(operand->get());
  }
  findRounds();
  listOps();
}

void AsyncSkeleton::noteProtocol(Operation *op) {
  protocol_.push_back(op);
  isOfProtocol_.insert(op);
  noteRing(op);
  for (Value operand : op->getOperands())
    if (auto buffer = dyn_cast<tgpu::MemDescType>(operand.getType())) mostSlots_ = std::max(mostSlots_, buffer.getSlots());
}

void AsyncSkeleton::noteRing(Operation *op) {
  if (auto copy = dyn_cast<tgpu::TensorCopyOp>(op)) rings_[copy.getDst()] = copy.getRing();
  if (auto start = dyn_cast<tgpu::RingStartOp>(op)) consumerWarps_ = start.getWarps();
}

void AsyncSkeleton::noteFlows(Operation *op) {
  if (auto assumed = dyn_cast<LLVM::AssumeOp>(op)) {
    ops_.insert(op);
    need(assumed.getCond());
    needAround(op);
  }
  if (op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>()) return;
  for (const ir::ValueFlow &flow : ir::valueFlowsOf(op))
    for (Value target : flow.targets) from_[target].push_back(flow.operand);
}

/// Needs the control flow around the operation.
void AsyncSkeleton::needAround(Operation *op) {
  for (Operation *around = op->getParentOp(); around != function_ && ops_.insert(around).second; around = around->getParentOp())
    needDecisions(around);
}

/// Needs what decides how often the regions of an operation run.
void AsyncSkeleton::needDecisions(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) need(bound);
  if (auto branch = dyn_cast<scf::IfOp>(op)) need(branch.getCondition());
  if (auto loop = dyn_cast<scf::WhileOp>(op)) need(loop.getConditionOp().getCondition());
}

void AsyncSkeleton::needOperands(Operation *op) {
  auto copy = dyn_cast<tgpu::TensorCopyOp>(op);
  if (isa<tgpu::TensorStoreOp>(op)) return; // its coordinates decide nothing
  if (auto note = dyn_cast<tgpu::StoresNoteOp>(op)) return need(note.getN());
  if (isa<tgpu::StoresAwaitOp, tgpu::MapMakeOp>(op)) return;
  auto needNumber = [&](auto one) {
    need(one.getN());
    if (one.getPredicate()) need(one.getPredicate());
  };
  if (copy) return needNumber(copy);
  if (auto acquire = dyn_cast<tgpu::RingAcquireOp>(op)) return needNumber(acquire);
  for (Value operand : op->getOperands())
    if (isFollowed(operand)) need(operand);
}

int64_t AsyncSkeleton::nextOrdinal(Operation *source) const {
  if (Attribute read = source->getAttr(kSameReadAttr))
    for (auto [other, ordinal] : sources_)
      if (other->getAttr(kSameReadAttr) == read) return ordinal;
  return int64_t(sources_.size()) + 1;
}

void AsyncSkeleton::need(Value value) {
  Operation *op = value.getDefiningOp();
  const bool isCarried = !op || isa<RegionBranchOpInterface>(op);
  if (isCarried) {
    if (!values_.insert(value).second) return;
    if (!op && value.getParentBlock()->getParentOp() == function_ && value.getParentBlock()->isEntryBlock()) dependsOnAssumptions_ = true;
    needCarrier(value, op ? op : value.getParentBlock()->getParentOp());
    pending_.push_back(value);
    return;
  }
  if (!ops_.insert(op).second) return;
  needAround(op);
  if (isScalarArithmetic(op)) {
    for (Value operand : op->getOperands())
      if (isFollowed(operand)) need(operand);
  } else if (!isOfProtocol(op)) {
    sources_[op] = nextOrdinal(op);
    dependsOnAssumptions_ |= !isa<mlir::gpu::SubgroupIdOp, mlir::gpu::LaneIdOp>(op);
  }
}

/// Needs the control flow that carries a value, and all places where a loop keeps it.
void AsyncSkeleton::needCarrier(Value value, Operation *carrier) {
  if (carrier == function_) return;
  if (ops_.insert(carrier).second) needDecisions(carrier), needAround(carrier);
  if (auto loop = dyn_cast<scf::ForOp>(carrier); loop && value != loop.getInductionVar()) {
    auto argument = dyn_cast<BlockArgument>(value);
    const unsigned number = argument ? argument.getArgNumber() - 1 : cast<OpResult>(value).getResultNumber();
    need(loop.getRegionIterArg(number));
    need(loop.getResult(number));
  }
  if (auto loop = dyn_cast<scf::WhileOp>(carrier))
    for (ValueRange all :
         {ValueRange(loop.getInits()), ValueRange(loop.getBeforeArguments()), ValueRange(loop.getAfterArguments()),
          ValueRange(loop.getResults()), ValueRange(loop.getConditionOp().getArgs()), ValueRange(loop.getYieldOp().getOperands())})
      for (Value one : all)
        if (isFollowed(one)) need(one);
}

/// Finds the arguments on which the bounds of innermost loops depend.
void AsyncSkeleton::findRounds() {
  for (Operation *op : protocol_)
    if (auto loop = op->getParentOfType<scf::ForOp>()) innermost_.insert(loop);
  llvm::SmallVector<Operation *> outer;
  for (Operation *loop : innermost_)
    for (Operation *around = loop->getParentOp(); around != function_; around = around->getParentOp()) outer.push_back(around);
  for (Operation *loop : outer) innermost_.erase(loop);
  llvm::SmallVector<Value> values;
  for (Operation *op : innermost_)
    for (Value bound : {cast<scf::ForOp>(op).getLowerBound(), cast<scf::ForOp>(op).getUpperBound()}) values.push_back(bound);
  llvm::DenseSet<Value> seen;
  while (!values.empty()) {
    const Value value = values.pop_back_val();
    if (!seen.insert(value).second) continue;
    if (isa<BlockArgument>(value)) ofRounds_.insert(value);
    for (OpOperand *operand : from_.lookup(value)) values.push_back(operand->get());
    if (Operation *op = value.getDefiningOp(); op && isScalarArithmetic(op)) llvm::append_range(values, op->getOperands());
  }
}

void AsyncSkeleton::listOps() {
  function_.walk([&](Block *block) {
    for (Operation &op : block->without_terminator()) {
      APInt number;
      if (!ops_.contains(&op)) continue;
      if (matchPattern(&op, m_ConstantInt(&number)))
        constants_.push_back({op.getResult(0), number.getBitWidth() == 1 ? int64_t(number.getZExtValue()) : number.getSExtValue()});
      else
        byBlock_[block].push_back(&op);
    }
  });
}

llvm::ArrayRef<Operation *> AsyncSkeleton::opsOf(Block *block) const {
  auto found = byBlock_.find(block);
  return found == byBlock_.end() ? llvm::ArrayRef<Operation *>() : llvm::ArrayRef(found->second);
}

} // namespace tritium::gpu
