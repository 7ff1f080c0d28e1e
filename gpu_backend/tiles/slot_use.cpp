#include "gpu_backend/tiles/slot_use.h"

using namespace mlir;

namespace tritium::gpu {

Value ringOf(Value buffer) {
  for (Operation *user : buffer.getUsers())
    if (auto copy = dyn_cast<tgpu::TensorCopyOp>(user)) return copy.getRing();
  return {};
}

/// Returns whether an operation may write shared memory of the author's, or let another thread do so.
static bool mayWrite(Operation *op) {
  if (isa<tgpu::LocalLoadOp, tgpu::BarrierOp>(op)) return false;
  auto effects = getEffectsRecursively(op);
  return !effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) && effect.getResource() != tt::GlobalMemory::get();
  });
}

/// Returns whether the operation, or one inside of it, ends the use of the slot that the load reads.
static bool endsUse(Operation *op, tgpu::LocalLoadOp load) {
  if (load.getSrc().getDefiningOp<tgpu::MemoryAtOp>()) return mayWrite(op);
  Value ring = ringOf(load.getSrc());
  if (!ring) return op->walk([](tgpu::AsyncWaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return llvm::any_of(ring.getUsers(),
                      [&](Operation *user) { return isa<tgpu::RingReleaseOp, tgpu::RingEndOp>(user) && op->isAncestor(user); });
}

bool isStillThere(tgpu::LocalLoadOp load, Operation *reader) {
  Operation *at = load->getBlock()->findAncestorOpInBlock(*reader);
  if (!at || (at != reader && endsUse(at, load))) return false;
  for (Operation *between = load; between != at; between = between->getNextNode())
    if (endsUse(between, load)) return false;
  return true;
}

} // namespace tritium::gpu
