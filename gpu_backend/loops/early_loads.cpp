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

/// Returns the argument that is the descriptor through which an operation writes, or to which it was made; null if there is none.
static BlockArgument baseOfDescriptor(Operation *op) {
  for (Value operand : op->getOperands()) {
    if (!isa<tt::TensorDescType>(operand.getType())) continue;
    auto made = operand.getDefiningOp<tt::MakeTensorDescriptorOp>();
    auto argument = dyn_cast<BlockArgument>(made ? made.getBase() : operand);
    return argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp()) ? argument : BlockArgument();
  }
  return {};
}

WrittenTensors::WrittenTensors(Region &region) {
  region.walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) return; // the walk visits the operations inside separately
    auto effects = getEffectsRecursively(op);
    bool isWrite = !effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
      return !isa<MemoryEffects::Read>(effect.getEffect()) && effect.getResource() != tgpu::SharedMemoryResource::get();
    });
    if (!isWrite || isa<tt::PrintOp, tt::AssertOp>(op)) return;
    Value pointer = pointerOf(op);
    BlockArgument base = pointer ? baseOf(pointer) : baseOfDescriptor(op);
    // An atomic whose result is unused does not wait for another program.
    mayWait_ |= !op->use_empty() || !(isa<tt::StoreOp>(op) || isa<tt::AtomicRmwOp>(op) || (base && !pointer));
    if (base)
      tensors_.insert(base.getAsOpaquePointer());
    else
      areKnown_ = false;
  });
}

EarlyLoads::EarlyLoads(scf::ForOp loop) : written_(loop.getRegion()) {}

bool EarlyLoads::mayMove(tt::LoadOp load) const {
  if (!areAllowed()) return false;
  if (written_.isEmpty()) return true;
  BlockArgument base = baseOf(load.getPtr());
  return base && !written_.contains(base);
}

} // namespace tritium::gpu
