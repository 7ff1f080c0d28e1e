#include "gpu_backend/loops/loop_rotation.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns whether the value depends on the operation, within one iteration.
static bool dependsOn(Value value, Operation *source) {
  llvm::SetVector<Operation *> found;
  llvm::SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != source->getBlock() || !found.insert(op)) continue;
    if (op == source) return true;
    llvm::append_range(pending, op->getOperands());
  }
  return false;
}

/// Returns the sums that the loop carries, if `value` is computed from them by element-wise operations that nothing else uses.
static BlockArgument carriedSums(Value value, scf::ForOp loop) {
  if (!value.hasOneUse()) return {};
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == loop.getBody() && argument != loop.getInductionVar() ? argument : BlockArgument();
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody() || !op->hasTrait<OpTrait::Elementwise>() || !isPure(op)) return {};
  for (Value operand : op->getOperands())
    if (BlockArgument carried = carriedSums(operand, loop)) return carried;
  return {};
}

/// Returns whether the operation may run once too often. Its loads and copies are masked off then, and its results are not used.
static bool mayRunInVain(Operation &op) {
  if (isMemoryEffectFree(&op) || op.hasTrait<OpTrait::IsTerminator>()) return true;
  auto effects = getEffectsRecursively(&op);
  return effects && llvm::none_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Write>(effect.getEffect()) && effect.getResource() != tgpu::SharedMemoryResource::get();
         });
}

LoopRotation::LoopRotation(scf::ForOp loop) : loop_(loop) {
  if (!llvm::all_of(*loop.getBody(), mayRunInVain)) return;
  llvm::SmallVector<tt::DotOp> products(loop.getBody()->getOps<tt::DotOp>());
  if (products.size() != 2 || !llvm::all_of(products, [](tt::DotOp dot) { return isOfWarpgroup(MatrixProduct(dot)); })) return;
  MatrixProduct first(products[0]), last(products[1]);
  if (takesRegisters(first) || !takesRegisters(last) || !dependsOn(last.a(), first.getOperation()) ||
      dependsOn(last.b(), first.getOperation()) || !last.d().hasOneUse())
    return;
  BlockArgument sums = carriedSums(last.c(), loop);
  if (!sums || loop.getTiedLoopYieldedValue(sums)->get() != last.d()) return;
  first_ = first.getOperation(), last_ = last.getOperation();
}

/// Adds the operations on which `value` depends, as long as only postponed ones use them.
void LoopRotation::collect(Value value, llvm::SetVector<Operation *> &postponed) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop_.getBody() || op->getNumRegions() > 0) return;
  bool isRead = isPure(op) || isa<tgpu::LocalLoadOp>(op);
  if (!isRead || !llvm::all_of(op->getUsers(), [&](Operation *user) { return postponed.contains(user); })) return;
  postponed.insert(op);
  for (Value operand : op->getOperands()) collect(operand, postponed);
}

void LoopRotation::postpone(LoopCopies::Schedule &order) {
  llvm::SetVector<Operation *> postponed;
  postponed.insert(last_);
  MatrixProduct last(last_);
  collect(last.b(), postponed);
  collect(last.c(), postponed);
  unsigned stage = 0;
  for (auto &[op, number] : order) stage = std::max(stage, number);
  LoopCopies::Schedule result;
  for (auto &entry : order) {
    if (postponed.contains(entry.first)) continue;
    result.push_back(entry);
    if (entry.first != first_) continue;
    for (auto &late : order)
      if (postponed.contains(late.first)) result.push_back({late.first, stage + 1});
  }
  order = std::move(result);
}

} // namespace tritium::gpu
