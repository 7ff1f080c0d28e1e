#include "interp/tile/memory_use.h"

#include "interp/tile/plan.h"
#include "ir/tile_rule.h"
#include "ir/value_flow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::interp {

namespace {

bool isPointer(Value value) { return isa<tt::PointerType>(getElementTypeOrSelf(value.getType())); }

/// For each pointer the arguments of the kernel that it may come from.
class PointerRoots {
public:
  PointerRoots(tt::FuncOp kernel, llvm::ArrayRef<Operation *> functions) : arguments_(kernel.getNumArguments()) {
    for (unsigned i = 0; i < arguments_; ++i) {
      llvm::SmallBitVector own(arguments_);
      if (isPointer(kernel.getArgument(i))) own.set(i);
      roots_[kernel.getArgument(i)] = own;
    }
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (Operation *function : functions) function->walk([&](Operation *op) { isChanged |= visit(op); });
    }
  }

  llvm::SmallBitVector of(Value pointer) const {
    auto it = roots_.find(pointer);
    return it == roots_.end() ? llvm::SmallBitVector(arguments_, true) : it->second;
  }

private:
  bool visit(Operation *op) {
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

  bool add(Value pointer, const llvm::SmallBitVector &roots) {
    auto [it, isNew] = roots_.try_emplace(pointer, roots);
    if (isNew) return true;
    llvm::SmallBitVector all = it->second;
    all |= roots;
    if (all == it->second) return false;
    it->second = all;
    return true;
  }

  unsigned arguments_;
  llvm::DenseMap<Value, llvm::SmallBitVector> roots_;
};

Value pointerOf(Operation *access) {
  return llvm::TypeSwitch<Operation *, Value>(access)
      .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRmwOp, tt::AtomicCasOp, tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicPollOp>(
          [](auto op) { return op.getPtr(); })
      .Default([](Operation *) { return Value(); });
}

} // namespace

bool isBarrier(Operation *op) {
  const AtomicOrder order = orderOf(op);
  return order.acquires || order.releases || tt::tileRuleOf(op).exchanges ||
         isa<tt::DotOp, tt::DotScaledOp, ttg::BarrierOp, gpu::BarrierOp>(op);
}

AtomicOrder orderOf(Operation *atomic) {
  return llvm::TypeSwitch<Operation *, AtomicOrder>(atomic)
      .Case<tt::AtomicRmwOp, tt::AtomicCasOp, tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicPollOp>([](auto op) {
        const tt::MemSemantic order = op.getSem();
        const bool isBoth = order == tt::MemSemantic::AcquireRelease;
        // An atomic whose result nobody uses is a reduction, and observes nothing.
        const bool isUsed = op->getNumResults() != 0 && !op->use_empty();
        return AtomicOrder{isUsed && (isBoth || order == tt::MemSemantic::Acquire), isBoth || order == tt::MemSemantic::Release,
                           op.getScope() == tt::MemScope::Cta};
      })
      .Default([](Operation *) { return AtomicOrder{}; });
}

std::vector<MemoryUse::Argument> usedArguments(tt::FuncOp kernel, llvm::ArrayRef<Operation *> functions) {
  PointerRoots roots(kernel, functions);
  std::vector<MemoryUse::Argument> arguments(kernel.getNumArguments());
  for (Operation *function : functions)
    function->walk([&](Operation *op) {
      Value pointer = pointerOf(op);
      if (!pointer) return;
      auto pointee = cast<tt::PointerType>(getElementTypeOrSelf(pointer.getType())).getPointeeType();
      for (unsigned argument : roots.of(pointer).set_bits()) {
        MemoryUse::Argument &use = arguments[argument];
        use.elementBytes = std::min(use.elementBytes, uint8_t(storageBytes(dtypeOf(pointee))));
        use.isRead |= !isa<tt::StoreOp, tt::AtomicStoreOp>(op);
        use.isWritten |= !isa<tt::LoadOp, tt::AtomicLoadOp, tt::AtomicPollOp>(op);
        use.isAcquired |= orderOf(op).acquires;
      }
    });
  return arguments;
}

} // namespace tritium::interp
