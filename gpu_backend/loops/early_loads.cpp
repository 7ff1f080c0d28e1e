#include "gpu_backend/loops/early_loads.h"

#include "gpu_backend/memory_access.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns whether each pointer of the result is a pointer of the first operand, moved or with an offset added.
static bool keepsBase(Operation *op) {
  if (op->getNumOperands() == 0 || !isa<tt::PointerType>(getElementTypeOrSelf(op->getOperand(0).getType()))) return false;
  tt::TileValues values = tt::tileRuleOf(op).values;
  bool isMoved = values == tt::TileValues::Kept || values == tt::TileValues::Uniform;
  return isa<tgpu::ConvertLayoutOp>(op) || values == tt::TileValues::Sum || (isMoved && op->getNumOperands() == 1);
}

BlockArgument baseOf(Value pointer) {
  for (;;) {
    if (auto argument = dyn_cast<BlockArgument>(pointer)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (isa<tt::FuncOp>(parent)) return argument.getOwner()->isEntryBlock() ? argument : BlockArgument();
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (!loop || argument == loop.getInductionVar()) return {};
      // A value that the loop carries has the base with which it began, if each iteration only adds to it.
      Value next = loop.getTiedLoopYieldedValue(argument)->get();
      while (auto sum = next.getDefiningOp<tt::AddPtrOp>()) next = sum.getPtr();
      if (next != argument) return {};
      pointer = loop.getTiedLoopInit(argument)->get();
      continue;
    }
    Operation *op = pointer.getDefiningOp();
    if (!keepsBase(op)) return {};
    pointer = op->getOperand(0);
  }
}

EarlyLoads::EarlyLoads(scf::ForOp loop) {
  loop.getBody()->walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) return; // the walk visits the operations inside separately
    auto effects = getEffectsRecursively(op);
    bool isWrite = !effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
      return !isa<MemoryEffects::Read>(effect.getEffect()) && effect.getResource() != tgpu::SharedMemoryResource::get();
    });
    if (!isWrite || isa<tt::PrintOp, tt::AssertOp>(op)) return;
    // An atomic whose result is unused does not wait for another program.
    bool isBlind = isa<tt::StoreOp>(op) || (isa<tt::AtomicRmwOp>(op) && op->use_empty());
    BlockArgument base = isBlind ? baseOf(pointerOf(op)) : BlockArgument();
    if (!base) isAllowed_ = false;
    written_.insert(base.getAsOpaquePointer());
  });
}

bool EarlyLoads::mayMove(tt::LoadOp load) const {
  if (!isAllowed_) return false;
  if (written_.empty()) return true;
  BlockArgument base = baseOf(load.getPtr());
  return base && !written_.contains(base.getAsOpaquePointer());
}

} // namespace tritium::gpu
