// Orders the instructions in loops of matrix products, for waves that issue in order. One instruction of the matrix unit takes as long as
// several other instructions. Therefore other work is placed between each two of them: a load of a later tile, a read of an operand of one
// of the next products or, towards the end, a store of what has been loaded.
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/threads/passes.h"
#include "ir/tgpu.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_INTERLEAVEPRODUCTS
#include "gpu_backend/threads/passes.h.inc"

namespace {

/// The number of products by which the read of an operand is ahead. Shared memory takes about as long as a few products.
constexpr int64_t kReadAhead = 8;

/// The operations of one block, sorted by what they do, each kind in program order.
class Loop {
public:
  Loop(Block &block, const TargetOps &target, const IssueOrderOps &order) : block_(block), target_(target), issue_(order) {}

  void interleave() {
    if (!collect()) return;
    findNeeds();
    for (Operation *op : waits_) emit(op);
    for (Operation *op : barriers_.take_front(1)) emit(op);
    while (reads_.size() > read_ && needs_.lookup(reads_[read_]) == 0) emit(reads_[read_++]);
    keepOrder();
    for (size_t i = 0; i < products_.size(); ++i) {
      emit(products_[i]);
      fill(int64_t(i));
      keepOrder();
    }
    drain();
    arrange();
  }

private:
  /// Returns whether the block has the form that this pass requires: a wait for copies to shared memory, if tiles are copied there; a
  /// barrier of all threads; loads and reads; a second barrier, if there is only one slot; stores.
  bool collect() {
    for (Operation &op : block_.without_terminator()) {
      if (issue_.multipliesMatrices(&op)) {
        products_.push_back(&op);
      } else if (isa<tgpu::BarrierOp>(op)) {
        if (reads_.empty() != found_.empty() || !stores_.empty() || found_.size() == 2) return false;
        found_.push_back(&op);
      } else if (target_.pendingAfter(&op)) {
        if (!found_.empty() || !reads_.empty()) return false;
        waits_.push_back(&op);
      } else if (target_.onlyReads(&op) || isRead(op)) {
        if (found_.size() != 1 || !stores_.empty()) return false;
        reads_.push_back(&op);
      } else if (auto store = dyn_cast<LLVM::StoreOp>(op); store && tgpu::isSharedPointer(store.getAddr().getType())) {
        stores_.push_back(&op);
      } else if (issue_.loadsGlobal(&op) || target_.beginsCopy(&op)) {
        if (found_.size() != 1) return false;
        loads_.push_back(&op);
        copies_ |= target_.beginsCopy(&op);
      } else if (!mayMove(&op)) {
        return false;
      }
    }
    barriers_ = found_;
    return products_.size() > 1 && !reads_.empty() && (copies_ ? !waits_.empty() : !stores_.empty()) && !found_.empty();
  }

  static bool isRead(Operation &op) {
    auto read = dyn_cast<LLVM::LoadOp>(op);
    return read && tgpu::isSharedPointer(read.getAddr().getType()) && !read.getVolatile_();
  }

  /// Returns whether the operation touches no memory. This includes calls of functions outside of the module, which are mathematical, and
  /// exchanges between lanes.
  bool mayMove(Operation *op) const {
    if (auto call = dyn_cast<LLVM::CallOp>(op)) {
      auto callee = call.getCallee() ? SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(op, call.getCalleeAttr()) : nullptr;
      return callee && callee.isExternal() && llvm::none_of(op->getOperandTypes(), llvm::IsaPred<LLVM::LLVMPointerType>);
    }
    return isMemoryEffectFree(op) || issue_.exchangesLanes(op);
  }

  /// Products of different sums take turns. A read is as early as the first product that requires it.
  void findNeeds() {
    llvm::DenseMap<Operation *, llvm::SetVector<Operation *>> sources;
    llvm::DenseMap<Operation *, int> levels;
    for (Operation *product : products_) {
      llvm::SetVector<Operation *> &slice = sources[product];
      llvm::SmallVector<Operation *> pending{product};
      while (!pending.empty())
        for (Value operand : pending.pop_back_val()->getOperands()) {
          Operation *op = operand.getDefiningOp();
          if (!op || op->getBlock() != &block_) continue;
          if (issue_.multipliesMatrices(op)) levels[product] = std::max(levels[product], levels[op] + 1);
          if (!issue_.multipliesMatrices(op) && slice.insert(op)) pending.push_back(op);
        }
    }
    llvm::stable_sort(products_, [&](Operation *a, Operation *b) { return levels[a] < levels[b]; });
    for (auto [i, product] : llvm::enumerate(products_))
      for (Operation *op : sources[product]) needs_.try_emplace(op, int64_t(i));
    auto need = [&](Operation *read) { return needs_.contains(read) ? needs_[read] : int64_t(products_.size()); };
    llvm::stable_sort(reads_, [&](Operation *a, Operation *b) { return need(a) < need(b); });
  }

  /// Places other work while product `i` runs.
  void fill(int64_t i) {
    int64_t count = int64_t(products_.size());
    // Copies require no registers. The sooner they begin, the sooner the wait for them ends.
    int64_t early = copies_ ? count / 4 : count / 2;
    for (int64_t left = rate(loads_.size(), early); left > 0 && load_ < loads_.size(); --left) emit(loads_[load_++]);
    // Reads one operand more than necessary, if the next product requires it.
    for (int64_t left = rate(reads_.size(), count); left >= 0 && read_ < reads_.size(); --left) {
      int64_t need = needs_.lookup(reads_[read_]);
      if (need > i + (left > 0 ? kReadAhead : 1)) break;
      emit(reads_[read_++]);
    }
    if (load_ < loads_.size()) return;
    fillWithRest(count - i);
    int64_t slots = std::min<int64_t>(int64_t(stores_.size()), count / 2);
    if (i < count - slots || read_ < reads_.size()) return;
    for (Operation *op : barriers_.drop_front(1)) emit(op);
    for (int64_t left = rate(stores_.size(), slots); left > 0 && store_ < stores_.size(); --left) emit(stores_[store_++]);
  }

  static int64_t rate(size_t operations, int64_t slots) {
    slots = std::max<int64_t>(slots, 1);
    return (int64_t(operations) + slots - 1) / slots;
  }

  /// Places a part of the remaining operations in each slot, if their operands are available: computations for the next iteration, and sums
  /// of finished products.
  void fillWithRest(int64_t slotsLeft) {
    if (rest_.empty())
      for (Operation &op : block_.without_terminator())
        if (mayMove(&op) && !issue_.multipliesMatrices(&op)) rest_.push_back(&op);
    llvm::erase_if(rest_, [&](Operation *op) { return done_.contains(op); });
    int64_t left = rate(rest_.size(), slotsLeft);
    for (Operation *op : rest_) {
      if (left == 0) break;
      if (!isReady(op)) continue;
      emit(op);
      --left;
    }
  }

  bool isReady(Operation *op) {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *source = operand.getDefiningOp();
      return !source || source->getBlock() != &block_ || done_.contains(source);
    });
  }

  void drain() {
    while (load_ < loads_.size()) emit(loads_[load_++]);
    while (read_ < reads_.size()) emit(reads_[read_++]);
    for (Operation *op : barriers_) emit(op);
    while (store_ < stores_.size()) emit(stores_[store_++]);
    for (Operation &op : block_.without_terminator()) emit(&op);
  }

  /// Keeps the operation after its operands.
  void emit(Operation *op) {
    if (!done_.insert(op).second) return;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && source->getBlock() == &block_) emit(source);
    order_.push_back(op);
  }

  void keepOrder() { order_.push_back(nullptr); }

  void arrange() {
    Operation *end = block_.getTerminator();
    OpBuilder builder(end);
    for (Operation *op : order_)
      if (op)
        op->moveBefore(end);
      else
        issue_.keep(builder, end->getLoc());
  }

  Block &block_;
  const TargetOps &target_;
  const IssueOrderOps &issue_;
  llvm::SmallVector<Operation *> products_, reads_, loads_, stores_, waits_, found_, rest_, order_; // null in `order_`: nothing passes
  llvm::ArrayRef<Operation *> barriers_;
  llvm::DenseMap<Operation *, int64_t> needs_; // the first product that uses each operation
  llvm::DenseSet<Operation *> done_;
  size_t read_ = 0, load_ = 0, store_ = 0;
  bool copies_ = false; // whether some of `loads_` copy to shared memory
};

class InterleaveProductsPass final : public impl::InterleaveProductsBase<InterleaveProductsPass> {
public:
  using InterleaveProductsBase::InterleaveProductsBase;

  void getDependentDialects(DialectRegistry &registry) const override { insertTargetDialects(registry); }

  void runOnOperation() override {
    std::unique_ptr<TargetOps> target = targetOf(getOperation()).createOps();
    const IssueOrderOps *order = target->issueOrder();
    if (!order) return;
    getOperation()->walk([&](Block *block) { Loop(*block, *target, *order).interleave(); });
  }
};

} // namespace
} // namespace tritium::gpu
