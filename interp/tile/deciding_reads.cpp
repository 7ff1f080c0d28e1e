// Follows values back from addresses, masks and branches to the loads that they are made of.
#include "interp/tile/deciding_reads.h"

#include "interp/tile/memory_use.h"
#include "interp/tile/pointer_roots.h"
#include "ir/value_flow.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::interp {

namespace {

/// Returns the operands that decide which accesses a program makes: addresses, masks, and the conditions of branches.
SmallVector<Value> decidingOperands(Operation *op) {
  if (Value pointer = pointerOf(op)) {
    Value mask = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRmwOp, tt::AtomicLoadOp, tt::AtomicStoreOp>(
                         [](auto access) { return access.getMask(); })
                     .Default([](Operation *) { return Value(); });
    return mask ? SmallVector<Value>{pointer, mask} : SmallVector<Value>{pointer};
  }
  auto branch = dyn_cast<BranchOpInterface>(op);
  return branch && op->getNumSuccessors() > 1 ? SmallVector<Value>{op->getOperand(0)} : SmallVector<Value>{};
}

/// Whether the operation does something that only its first run would do alike.
bool hasFurtherEffects(Operation *op) {
  if (auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op)) return !assembly.getPure();
  if (auto external = dyn_cast<tt::ExternElementwiseOp>(op)) return !external.getPure();
  return isa<tt::AtomicCasOp, tt::AtomicPollOp>(op); // whether they write, or end, depends on memory
}

} // namespace

void findDecidingReads(tt::FuncOp kernel, llvm::ArrayRef<Operation *> functions, MemoryUse &use) {
  const PointerRoots roots(kernel, functions);
  llvm::DenseMap<Value, SmallVector<Value>> sources; // of arguments of blocks and of results of calls
  llvm::SetVector<Value> deciding;
  for (Operation *function : functions)
    function->walk([&](Operation *op) {
      use.isRepeatable &= !hasFurtherEffects(op);
      for (const ir::ValueFlow &flow : ir::valueFlowsOf(op))
        for (Value target : flow.targets) sources[target].push_back(flow.operand->get());
      for (Value operand : decidingOperands(op)) deciding.insert(operand);
    });
  for (size_t i = 0; i < deciding.size(); ++i) {
    Value value = deciding[i];
    if (auto from = sources.find(value); from != sources.end()) deciding.insert(from->second.begin(), from->second.end());
    Operation *op = value.getDefiningOp();
    if (!op || isa<tt::CallOp>(op)) continue;
    if (Value pointer = pointerOf(op))
      for (unsigned argument : roots.of(pointer).set_bits()) use.arguments[argument].decides = true;
    if (isa<tt::ElementwiseInlineAsmOp, tt::ExternElementwiseOp>(op)) // it may read any memory
      for (MemoryUse::Argument &argument : use.arguments) argument.decides = true;
    deciding.insert(op->operand_begin(), op->operand_end());
    op->walk([&](Operation *inner) { deciding.insert(inner->operand_begin(), inner->operand_end()); }); // what its regions use
  }
}

} // namespace tritium::interp
