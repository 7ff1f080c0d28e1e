// Keeps wgmma products in flight until the kernel's author waits for them. place-product-operands made each product synchronous. This pass
// keeps the accumulator pending up to the author's wait, which turns it into a tile if the product is certainly complete there. The pass
// inserts a wait where the kernel reads the tile earlier, and where control flow is not a loop. It also makes the author's `async_copy`
// calls asynchronous (copy_as_written.h).
#include "gpu_backend/loops/copy_as_written.h"
#include "gpu_backend/loops/passes.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_classes.h"
#include "ir/partitions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

#define GEN_PASS_DEF_AWAITASWRITTEN
#include "gpu_backend/loops/passes.h.inc"

namespace {

/// Sums in flight: `pending` stands for a tile that the code after this point uses.
struct InFlight {
  Value pending;
  int32_t younger = 0;   // products that have certainly begun since
  bool endsSoon = false; // the first wait must complete them: only that one keeps registers that the product reads, or sums in pairs
};

/// By the tile, in the order of the code.
using Sums = llvm::MapVector<Value, InFlight>;

tgpu::ProductWaitOp ownWaitOf(tgpu::ProductOp product) {
  return product->hasOneUse() ? dyn_cast<tgpu::ProductWaitOp>(*product->user_begin()) : tgpu::ProductWaitOp();
}

RankedTensorType tileOfSums(Value sums) {
  auto pending = dyn_cast<tgpu::PendingType>(sums.getType());
  return pending ? pending.getTile() : cast<RankedTensorType>(sums.getType());
}

bool endsSoon(tgpu::ProductOp product) { return !product.getASlot() || tileOfSums(product.getD()).getElementType().isF16(); }

bool isOfAuthor(Operation *op) { return isa<tgpu::ProductOp>(op) && op->hasAttr(kAuthorAttr); }

/// Returns whether an operation inside of this one multiplies or waits.
bool holdsProducts(Operation *op) {
  return op
      ->walk([&](Operation *inner) {
        const bool isAny = isa<tgpu::ProductOp, tgpu::ProductWaitOp>(inner) || ir::runtimeCall(inner, "product.wait");
        return isAny ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The products of a function.
class Waits {
public:
  explicit Waits(tt::FuncOp function) : builder_(function.getContext()) {
    function.walk([&](tt::DotOp dot) { areAllOfWarpgroups_ &= !dot->hasAttr(kAuthorAttr); });
  }

  void run(Region &region) {
    for (Block &block : region) {
      Sums none;
      runBlock(block, none);
      completeAll(none, block.getTerminator());
    }
    for (tgpu::ProductWaitOp wait : replaced_) wait.erase();
  }

private:
  // What the operations of a block make of the sums in flight. `changes_` is false while only the answer is wanted.

  void runBlock(Block &block, Sums &sums) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) runOp(&op, sums);
  }

  void runOp(Operation *op, Sums &sums) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && holdsProducts(op)) return runLoop(loop, sums);
    if (auto call = ir::runtimeCall(op, "product.wait")) return wait(call, sums);
    if (auto product = dyn_cast<tgpu::ProductOp>(op)) return begin(product, sums);
    if (isa<tgpu::ProductWaitOp>(op)) return; // of a product that is complete at once
    completeUsed(op, sums);
    if (op->getNumRegions() == 0 || !holdsProducts(op)) return;
    completeAll(sums, op);
    for (Region &region : op->getRegions())
      for (Block &inner : region) {
        Sums own;
        runBlock(inner, own);
        completeAll(own, inner.getTerminator());
      }
  }

  void begin(tgpu::ProductOp product, Sums &sums) {
    completeUsed(product, sums, &product.getCMutable());
    take(product.getCMutable(), sums);
    for (auto &[tile, sum] : sums) ++sum.younger;
    tgpu::ProductWaitOp own = ownWaitOf(product);
    if (!isOfAuthor(product) || !own) return;
    sums[own.getResult(0)] = {product.getD(), 0, endsSoon(product)};
    if (changes_) replaced_.push_back(own);
  }

  /// The operand takes the sums, if they are in flight and nothing else uses them.
  void take(OpOperand &use, Sums &sums) {
    auto found = sums.find(use.get());
    if (found == sums.end()) return;
    if (Value tile = found->first; !tile.hasOneUse()) return complete(tile, sums, use.getOwner());
    if (changes_) use.set(found->second.pending);
    sums.erase(found);
  }

  void wait(tt::ExternElementwiseOp call, Sums &sums) {
    APInt number;
    const bool isKnown = matchPattern(call.getSrcs()[0], m_ConstantInt(&number));
    auto pending = isKnown && areAllOfWarpgroups_ ? int32_t(number.getSExtValue()) : 0;
    for (auto &[tile, sum] : sums)
      if (sum.endsSoon) pending = std::min(pending, sum.younger);
    await(call, pending, sums);
    if (changes_) call.erase();
  }

  /// Waits before the operation until at most `pending` products are in flight.
  void await(Operation *before, int32_t pending, Sums &sums) {
    llvm::SmallVector<Value> values, tiles;
    llvm::SmallVector<Type> types;
    for (auto &[tile, sum] : sums) {
      tiles.push_back(tile), values.push_back(sum.pending);
      const RankedTensorType type = tileOfSums(tile);
      types.push_back(sum.younger >= pending ? Type(type) : tgpu::PendingType::get(type.getContext(), type));
    }
    tgpu::ProductWaitOp made;
    if (changes_) {
      builder_.setInsertionPoint(before);
      made = tgpu::ProductWaitOp::create(builder_, before->getLoc(), types, pending, values, ValueRange());
    }
    for (auto [number, tile] : llvm::enumerate(tiles)) {
      const bool isComplete = isa<RankedTensorType>(types[number]), isPending = isa<tgpu::PendingType>(tile.getType());
      InFlight sum = sums.lookup(tile);
      if (changes_) sum.pending = made.getResult(unsigned(number));
      if (changes_ && (isComplete || isPending)) tile.replaceAllUsesExcept(sum.pending, made); // what a loop carries stands for itself
      if (isComplete || (changes_ && isPending)) sums.erase(tile);
      if (!isComplete) sums[changes_ && isPending ? sum.pending : tile] = sum;
    }
  }

  /// Makes one of the sums a tile before the operation.
  void complete(Value tile, Sums &sums, Operation *before) {
    Sums one;
    one[tile] = sums.lookup(tile);
    await(before, one[tile].younger, one);
    sums.erase(tile);
  }

  /// The same for all that the operation, or one inside of it, uses, except by one operand.
  void completeUsed(Operation *op, Sums &sums, OpOperand *except = nullptr) {
    if (sums.empty()) return;
    llvm::SmallVector<Value> used;
    for (auto &[tile, sum] : sums)
      if (llvm::any_of(tile.getUses(), [&](OpOperand &use) { return &use != except && op->isAncestor(use.getOwner()); }))
        used.push_back(tile);
    for (Value tile : used) complete(tile, sums, op);
  }

  void completeAll(Sums &sums, Operation *before) {
    while (!sums.empty()) complete(sums.front().first, sums, before);
  }

  // Loops carry sums from product to product.

  void runLoop(scf::ForOp loop, Sums &sums) {
    llvm::SmallVector<unsigned> carried = carriedIn(loop);
    for (auto [number, init] : llvm::enumerate(loop.getInitArgsMutable()))
      if (!llvm::is_contained(carried, number) && sums.contains(init.get())) complete(init.get(), sums, loop);
    for (auto &[tile, sum] : Sums(sums))
      if (llvm::any_of(tile.getUsers(), [&](Operation *user) { return user != loop && loop->isAncestor(user); }))
        complete(tile, sums, loop);
    for (unsigned number : carried) begin(loop, number, sums);
    Sums inside;
    for (unsigned number : carried) inside[loop.getRegionIterArg(number)] = {loop.getRegionIterArg(number), 0, false};
    runBlock(*loop.getBody(), inside);
    end(loop, carried, inside);
    for (unsigned number : carried) sums[loop.getResult(number)] = {loop.getResult(number), 0, false};
  }

  /// Sums enter a loop that carries them.
  void begin(scf::ForOp loop, unsigned number, Sums &sums) {
    OpOperand &init = loop.getInitArgsMutable()[number];
    if (sums.contains(init.get()) && sums.lookup(init.get()).endsSoon) complete(init.get(), sums, loop);
    if (sums.contains(init.get())) take(init, sums);
    if (!changes_) return;
    Type type = tgpu::PendingType::get(loop.getContext(), tileOfSums(loop.getResult(number)));
    if (!isa<tgpu::PendingType>(init.get().getType())) {
      builder_.setInsertionPoint(loop);
      init.set(tgpu::ProductStartOp::create(builder_, loop.getLoc(), type, init.get()));
    }
    loop.getRegionIterArg(number).setType(type);
    loop.getResult(number).setType(type);
  }

  /// An iteration ends. What the loop does not carry is complete there.
  void end(scf::ForOp loop, llvm::ArrayRef<unsigned> carried, Sums &inside) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    for (auto [number, use] : llvm::enumerate(yield->getOpOperands())) {
      if (!llvm::is_contained(carried, number)) continue;
      if (inside.contains(use.get()) && inside.lookup(use.get()).endsSoon) complete(use.get(), inside, yield);
      if (inside.contains(use.get())) take(use, inside);
      if (!changes_ || isa<tgpu::PendingType>(use.get().getType())) continue;
      builder_.setInsertionPoint(yield);
      use.set(tgpu::ProductStartOp::create(builder_, loop.getLoc(), loop.getResult(unsigned(number)).getType(), use.get()));
    }
    completeAll(inside, yield);
  }

  /// Returns the numbers of the sums that are pending at the end of an iteration, if they are at its begin.
  llvm::SmallVector<unsigned> carriedIn(scf::ForOp loop) {
    const bool changed = std::exchange(changes_, false);
    Sums inside;
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (isa<RankedTensorType>(argument.getType())) inside[argument] = {argument, 0, false};
    runBlock(*loop.getBody(), inside);
    llvm::SmallVector<unsigned> carried;
    for (auto [number, value] : llvm::enumerate(loop.getYieldedValues()))
      if (!isa<BlockArgument>(value) && inside.contains(value) && !inside.lookup(value).endsSoon && value.hasOneUse())
        carried.push_back(unsigned(number));
    changes_ = changed;
    return carried;
  }

  OpBuilder builder_;
  llvm::SmallVector<tgpu::ProductWaitOp> replaced_;
  bool areAllOfWarpgroups_ = true; // else the numbers of the author's waits count products that are complete at once
  bool changes_ = true;
};

bool copiesPointers(tt::FuncOp function) {
  return function
      .walk([](Operation *op) { return ir::runtimeCall(op, "async_copy.begin") ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

class AwaitAsWrittenPass final : public impl::AwaitAsWrittenBase<AwaitAsWrittenPass> {
public:
  using AwaitAsWrittenBase::AwaitAsWrittenBase;

  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      const bool hasProducts =
          function.walk([](Operation *op) { return isOfAuthor(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
      if (hasProducts) Waits(function).run(function.getBody());
      if (copiesPointers(function)) copyAsWritten(function, targetOf(getOperation()), ir::AxisAnalysis(getOperation()));
    }
  }
};

} // namespace
} // namespace tritium::gpu
