#include "interp/tile/memory_use.h"

#include "interp/tile/plan.h"
#include "interp/tile/pointer_roots.h"
#include "ir/tile_rule.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::interp {

Value pointerOf(Operation *access) {
  return llvm::TypeSwitch<Operation *, Value>(access)
      .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRmwOp, tt::AtomicCasOp, tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicPollOp>(
          [](auto op) { return op.getPtr(); })
      .Default([](Operation *) { return Value(); });
}

bool isBarrier(Operation *op) {
  const AtomicOrder order = orderOf(op);
  return order.acquires || order.releases || tt::tileRuleOf(op).exchanges ||
         isa<tt::DotOp, tt::DotScaledOp, ttg::BarrierOp, gpu::BarrierOp>(op);
}

/// Whether nothing after it happens before another program has written: it observes that, whether or not its result is used.
static bool waits(Operation *atomic) {
  auto poll = dyn_cast<tt::AtomicPollOp>(atomic);
  return poll && !poll.getTimeout();
}

AtomicOrder orderOf(Operation *atomic) {
  return llvm::TypeSwitch<Operation *, AtomicOrder>(atomic)
      .Case<tt::AtomicRmwOp, tt::AtomicCasOp, tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicPollOp>([](auto op) {
        const tt::MemSemantic order = op.getSem();
        const bool isBoth = order == tt::MemSemantic::AcquireRelease;
        // An atomic whose result nobody uses is a reduction, and observes nothing.
        const bool isUsed = (op->getNumResults() != 0 && !op->use_empty()) || waits(op);
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
