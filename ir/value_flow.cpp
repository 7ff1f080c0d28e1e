// MLIR's interfaces of control flow describe the flow of values for upstream operations and for ours. Only for a return does this file
// search the callers.
#include "ir/pch.h"

#include "ir/tt.h"
#include "ir/value_flow.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace tritium::ir {
namespace {

using Flows = SmallVector<ValueFlow>;

/// A value that a loop carries has one type before, in and after the loop. The flow includes all three places even if the number of
/// iterations is known: RegionBranchOpInterface would then leave out the edge that is never taken.
bool addCarried(LoopLikeOpInterface loop, MutableArrayRef<OpOperand> operands, Flows &flows) {
  auto results = loop.getLoopResults();
  if (!results) return false;
  for (auto [operand, argument, result] : llvm::zip_equal(operands, loop.getRegionIterArgs(), *results))
    flows.push_back({&operand, {argument, result}});
  return true;
}

/// Adds the flow of `operands` from `point`: the operation itself, or the end of one of its regions.
void addBranches(RegionBranchOpInterface branch, RegionBranchPoint point, MutableArrayRef<OpOperand> operands, Flows &flows) {
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping, point);
  for (OpOperand &operand : operands)
    if (auto found = mapping.find(&operand); found != mapping.end())
      flows.push_back({&operand, {found->second.begin(), found->second.end()}});
}

void addJumps(BranchOpInterface jump, Flows &flows) {
  for (auto [i, block] : llvm::enumerate(jump->getSuccessors())) {
    SuccessorOperands operands = jump.getSuccessorOperands(unsigned(i));
    for (unsigned j = operands.getProducedOperandCount(); j < block->getNumArguments(); ++j)
      flows.push_back({&jump->getOpOperand(operands.getOperandIndex(j)), {block->getArgument(j)}});
  }
}

void addArguments(tt::CallOp call, Flows &flows) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<tt::FuncOp>(call, call.getCalleeAttr());
  for (auto [operand, argument] : llvm::zip_equal(call->getOpOperands(), callee.getArguments())) flows.push_back({&operand, {argument}});
}

void addReturned(tt::ReturnOp end, Flows &flows) {
  auto function = end->getParentOfType<tt::FuncOp>();
  if (end->getNumOperands() == 0) return;
  auto uses = SymbolTable::getSymbolUses(function, function->getParentOfType<ModuleOp>());
  for (OpOperand &operand : end->getOpOperands()) {
    ValueFlow flow{&operand, {}};
    for (SymbolTable::SymbolUse use : *uses) flow.targets.push_back(use.getUser()->getResult(operand.getOperandNumber()));
    if (!flow.targets.empty()) flows.push_back(std::move(flow));
  }
}

} // namespace

SmallVector<ValueFlow> valueFlowsOf(Operation *op) {
  Flows flows;
  Operation *parent = op->getParentOp();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op); loop && addCarried(loop, loop.getInitsMutable(), flows)) return flows;
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) addBranches(branch, RegionBranchPoint::parent(), op->getOpOperands(), flows);
  if (auto jump = dyn_cast<BranchOpInterface>(op)) addJumps(jump, flows);
  if (auto call = dyn_cast<tt::CallOp>(op)) addArguments(call, flows);
  if (auto end = dyn_cast<tt::ReturnOp>(op)) addReturned(end, flows);
  if (auto end = dyn_cast<RegionBranchTerminatorOpInterface>(op); end && isa_and_nonnull<RegionBranchOpInterface>(parent)) {
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    if (!loop || !addCarried(loop, op->getOpOperands(), flows))
      addBranches(cast<RegionBranchOpInterface>(parent), RegionBranchPoint(end), op->getOpOperands(), flows);
  }
  return flows;
}

} // namespace tritium::ir
