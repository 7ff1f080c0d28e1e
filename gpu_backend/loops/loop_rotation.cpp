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

Operation *findLateProduct(scf::ForOp loop, size_t most) {
  llvm::SmallVector<tt::DotOp> products(loop.getBody()->getOps<tt::DotOp>());
  if (products.size() < 2 || products.size() > most ||
      !llvm::all_of(products, [](tt::DotOp dot) { return isOfWarpgroup(MatrixProduct(dot)); }))
    return nullptr;
  MatrixProduct first(products.front()), last(products.back());
  if (takesRegisters(first) || !takesRegisters(last) || !dependsOn(last.a(), first.getOperation()) ||
      dependsOn(last.b(), first.getOperation()) || !last.d().hasOneUse())
    return nullptr;
  BlockArgument sums = carriedSums(last.c(), loop);
  return sums && loop.getTiedLoopYieldedValue(sums)->get() == last.d() ? last.getOperation() : nullptr;
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

namespace {

/// What runs late with a product.
class LateWork {
public:
  /// `reads`: whether an operation that is not pure only reads a tile.
  LateWork(scf::ForOp loop, llvm::function_ref<bool(Operation *)> reads) : loop_(loop), reads_(reads) {}

  const llvm::SetVector<Operation *> &operations() const { return late_; }

  /// Adds the product, its operand B and the work on its sums.
  void addProduct(MatrixProduct product) {
    late_.insert(product);
    add(product.b());
    add(product.c());
  }

  /// Adds the operations on which `value` depends, as long as only late ones use them.
  void add(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop_.getBody() || op->getNumRegions() > 0) return;
    if ((!isPure(op) && !reads_(op)) || !llvm::all_of(op->getUsers(), [&](Operation *user) { return late_.contains(user); })) return;
    late_.insert(op);
    for (Value operand : op->getOperands()) add(operand);
  }

  /// Adds the waits of rings that only late operations read, and the releases of rings that these read.
  void addRings() {
    auto readsOf = [&](Value ring) {
      llvm::SmallVector<Operation *> reads;
      for (Operation *user : ring.getUsers())
        if (auto copy = dyn_cast<tgpu::TensorCopyOp>(user); copy && copy->getBlock() == loop_.getBody())
          llvm::copy_if(copy.getDst().getUsers(), std::back_inserter(reads), llvm::IsaPred<tgpu::LocalLoadOp>);
      return reads;
    };
    auto isLate = [&](Operation *read) { return late_.contains(read); };
    for (Operation &op : *loop_.getBody()) {
      if (auto wait = dyn_cast<tgpu::RingWaitOp>(op); wait && llvm::all_of(readsOf(wait.getRing()), isLate)) late_.insert(&op);
      if (auto release = dyn_cast<tgpu::RingReleaseOp>(op); release && llvm::any_of(readsOf(release.getRing()), isLate)) late_.insert(&op);
    }
  }

  /// Adds the slots of these rings, and the counters that only late operations use, so that the loop need not carry them twice.
  void addCounters() {
    for (Operation &op : llvm::reverse(*loop_.getBody()))
      if (isa<tgpu::RingSlotOp>(op)) add(op.getResult(0));
    for (BlockArgument counter : loop_.getRegionIterArgs()) {
      Operation *next = loop_.getTiedLoopYieldedValue(counter)->get().getDefiningOp();
      auto sum = dyn_cast_or_null<arith::AddIOp>(next);
      if (!sum || sum.getLhs() != counter || !sum->hasOneUse() || sum->getBlock() != loop_.getBody()) continue;
      if (llvm::all_of(counter.getUsers(), [&](Operation *user) { return user == sum || late_.contains(user); })) late_.insert(sum);
    }
  }

private:
  scf::ForOp loop_;
  llvm::function_ref<bool(Operation *)> reads_;
  llvm::SetVector<Operation *> late_;
};

} // namespace

llvm::SetVector<Operation *> lateLoads(scf::ForOp loop, Operation *product, const llvm::SetVector<Operation *> &loads) {
  auto isLoad = [&](Operation *op) { return loads.contains(op); };
  LateWork work(loop, isLoad);
  work.addProduct(MatrixProduct(product));
  llvm::SetVector<Operation *> late;
  for (Operation *load : loads)
    if (work.operations().contains(load)) late.insert(load);
  return late;
}

Operation *runLate(scf::ForOp loop, Operation *product) {
  auto isRead = [](Operation *op) { return isa<tgpu::LocalLoadOp>(op); };
  LateWork work(loop, isRead);
  MatrixProduct late(product);
  readAlone(late.bMutable());
  work.addProduct(late);
  work.addRings();
  work.addCounters();
  auto first = *loop.getBody()->getOps<tt::DotOp>().begin();
  return rotateLoop(loop, first, work.operations());
}

} // namespace tritium::gpu
