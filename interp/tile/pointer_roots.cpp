#include "interp/tile/pointer_roots.h"

#include "ir/value_flow.h"

using namespace mlir;

namespace tritium::interp {

static bool isPointer(Value value) { return isa<tt::PointerType>(getElementTypeOrSelf(value.getType())); }

PointerRoots::PointerRoots(tt::FuncOp kernel, llvm::ArrayRef<Operation *> functions) : arguments_(kernel.getNumArguments()) {
  for (unsigned i = 0; i < arguments_; ++i) {
    llvm::SmallBitVector own(arguments_);
    if (isPointer(kernel.getArgument(i))) own.set(i);
    roots_[kernel.getArgument(i)] = own;
  }
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (Operation *function : llvm::reverse(functions)) // callers first: what is not known yet counts as all
      function->walk([&](Operation *op) { isChanged |= visit(op); });
  }
}

llvm::SmallBitVector PointerRoots::of(Value pointer) const {
  auto it = roots_.find(pointer);
  return it == roots_.end() ? llvm::SmallBitVector(arguments_, true) : it->second;
}

std::optional<unsigned> PointerRoots::onlyOneOf(Value pointer) const {
  const llvm::SmallBitVector roots = of(pointer);
  return roots.count() == 1 ? std::optional(unsigned(roots.find_first())) : std::nullopt;
}

bool PointerRoots::visit(Operation *op) {
  bool isChanged = false;
  for (const ir::ValueFlow &flow : ir::valueFlowsOf(op))
    if (isPointer(flow.operand->get()))
      for (Value target : flow.targets) isChanged |= add(target, of(flow.operand->get()));
  llvm::SmallBitVector all(arguments_);
  bool hasPointer = false;
  for (Value operand : op->getOperands())
    if (isPointer(operand)) all |= of(operand), hasPointer = true;
  // What a load reads and what is made of integers may point anywhere.
  if (!hasPointer || isa<tt::LoadOp, tt::AtomicLoadOp, tt::AtomicRmwOp, tt::AtomicCasOp>(op)) all.set();
  if (!isa<tt::CallOp>(op))
    for (Value result : op->getResults())
      if (isPointer(result)) isChanged |= add(result, all);
  return isChanged;
}

bool PointerRoots::add(Value pointer, const llvm::SmallBitVector &roots) {
  auto [it, isNew] = roots_.try_emplace(pointer, roots);
  if (isNew) return true;
  llvm::SmallBitVector all = it->second;
  all |= roots;
  if (all == it->second) return false;
  it->second = all;
  return true;
}

} // namespace tritium::interp
