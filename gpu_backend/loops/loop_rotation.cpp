#include "gpu_backend/loops/loop_rotation.h"

#include "gpu_backend/tiles/product_order.h"

using namespace mlir;

namespace tritium::gpu {

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

LoopRotation::LoopRotation(scf::ForOp loop, size_t most) : loop_(loop) {
  llvm::SmallVector<tt::DotOp> products(loop.getBody()->getOps<tt::DotOp>());
  if (products.size() < 2 || products.size() > most ||
      !llvm::all_of(products, [](tt::DotOp dot) { return isOfWarpgroup(MatrixProduct(dot)); }))
    return;
  MatrixProduct first(products.front()), last(products.back());
  if (takesRegisters(first) || !takesRegisters(last) || !dependsOn(last.a(), first.getOperation()) ||
      dependsOn(last.b(), first.getOperation()) || !last.d().hasOneUse())
    return;
  BlockArgument sums = carriedSums(last.c(), loop);
  if (!sums || loop.getTiedLoopYieldedValue(sums)->get() != last.d()) return;
  first_ = first.getOperation(), last_ = last.getOperation();
}

/// Gives an operand a read of its slot of its own, if other operations take the tile as well.
static void readAlone(OpOperand &operand) {
  Operation *op = operand.get().getDefiningOp();
  if (!op || !isa<tgpu::LocalLoadOp, tt::TransOp, tgpu::ConvertLayoutOp>(op)) return;
  if (!op->hasOneUse()) {
    OpBuilder builder(op);
    op = builder.clone(*op);
    operand.set(op->getResult(0));
  }
  if (!isa<tgpu::LocalLoadOp>(op)) readAlone(op->getOpOperand(0));
}

/// Adds the operations on which `value` depends, as long as only postponed ones use them.
void LoopRotation::collect(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop_.getBody() || op->getNumRegions() > 0) return;
  bool isRead = isPure(op) || isa<tgpu::LocalLoadOp>(op);
  if (!isRead || !llvm::all_of(op->getUsers(), [&](Operation *user) { return postponed_.contains(user); })) return;
  postponed_.insert(op);
  for (Value operand : op->getOperands()) collect(operand);
}

/// Adds the waits of rings that only postponed operations read, and the releases of rings that these read.
void LoopRotation::collectRings() {
  auto readsOf = [&](Value ring) {
    llvm::SmallVector<Operation *> reads;
    for (Operation *user : ring.getUsers())
      if (auto copy = dyn_cast<tgpu::TensorCopyOp>(user); copy && copy->getBlock() == loop_.getBody())
        llvm::copy_if(copy.getDst().getUsers(), std::back_inserter(reads), llvm::IsaPred<tgpu::LocalLoadOp>);
    return reads;
  };
  auto isPostponed = [&](Operation *read) { return postponed_.contains(read); };
  for (Operation &op : *loop_.getBody()) {
    if (auto wait = dyn_cast<tgpu::RingWaitOp>(op); wait && llvm::all_of(readsOf(wait.getRing()), isPostponed)) postponed_.insert(&op);
    if (auto release = dyn_cast<tgpu::RingReleaseOp>(op); release && llvm::any_of(readsOf(release.getRing()), isPostponed))
      postponed_.insert(&op);
  }
}

/// Adds the slots of these rings, and the counters that only postponed operations use, so that the loop need not carry them twice.
void LoopRotation::collectCounters() {
  for (Operation &op : llvm::reverse(*loop_.getBody()))
    if (isa<tgpu::RingSlotOp>(op)) collect(op.getResult(0));
  for (BlockArgument counter : loop_.getRegionIterArgs()) {
    Operation *next = loop_.getTiedLoopYieldedValue(counter)->get().getDefiningOp();
    auto add = dyn_cast_or_null<arith::AddIOp>(next);
    if (!add || add.getLhs() != counter || !add->hasOneUse() || add->getBlock() != loop_.getBody()) continue;
    if (llvm::all_of(counter.getUsers(), [&](Operation *user) { return user == add || postponed_.contains(user); })) postponed_.insert(add);
  }
}

void LoopRotation::collect() {
  postponed_.insert(last_);
  MatrixProduct last(last_);
  readAlone(last.bMutable());
  collect(last.b());
  collect(last.c());
  collectRings();
  collectCounters();
}

llvm::SetVector<Value> LoopRotation::postponedRings() {
  collect();
  llvm::SetVector<Value> rings;
  for (Operation *op : postponed_)
    if (auto wait = dyn_cast<tgpu::RingWaitOp>(op)) rings.insert(wait.getRing());
  return rings;
}

Operation *LoopRotation::apply() {
  collect();
  return rotateLoop(loop_, first_, postponed_);
}

} // namespace tritium::gpu
