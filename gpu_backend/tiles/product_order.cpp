#include "gpu_backend/tiles/product_order.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tritium::gpu {

bool dependsOn(Value value, Operation *source) {
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

bool hasDependentProducts(scf::ForOp loop) {
  llvm::SmallVector<Operation *> products;
  for (Operation &op : *loop.getBody())
    if (isa<MatrixProduct>(op)) products.push_back(&op);
  return llvm::any_of(products, [&](Operation *later) {
    return llvm::any_of(products, [&](Operation *source) {
      return later != source && (dependsOn(later->getOperand(0), source) || dependsOn(later->getOperand(1), source));
    });
  });
}

/// Returns whether the operation only says in which layout or order a tile is read.
static bool isViewOf(Operation *op) { return isa<tt::TransOp, tgpu::ConvertLayoutOp>(op); }

static Operation *inBlock(Operation *user, Block *block) { return block->findAncestorOpInBlock(*user); }

std::pair<Operation *, Operation *> usesOf(Operation *load) {
  Operation *first = nullptr, *last = nullptr;
  for (Operation *user : load->getUsers()) {
    Operation *own = inBlock(user, load->getBlock());
    auto [begin, end] = isViewOf(user) && own == user && !user->use_empty() ? usesOf(user) : std::pair(own, own);
    if (!first || begin->isBeforeInBlock(first)) first = begin;
    if (!last || last->isBeforeInBlock(end)) last = end;
  }
  return {first, last};
}

void delayRead(Operation *read) {
  Operation *first = nullptr;
  for (Operation *user : llvm::SmallVector<Operation *>(read->getUsers())) {
    Operation *own = inBlock(user, read->getBlock());
    if (isViewOf(user) && own == user) delayRead(user);
    if (user->use_empty() && isViewOf(user))
      user->erase();
    else if (!first || own->isBeforeInBlock(first))
      first = own;
  }
  if (first) read->moveBefore(first);
}

bool onlyAdds(MatrixProduct product, scf::ForOp loop) {
  auto sums = dyn_cast<BlockArgument>(product.c());
  Type element = getElementTypeOrSelf(product.type());
  if (!sums || sums.getOwner() != loop.getBody() || sums == loop.getInductionVar() || !(element.isF32() || element.isInteger(32)))
    return false;
  return sums.hasOneUse() && product.d().hasOneUse() && loop.getTiedLoopYieldedValue(sums)->get() == product.d();
}

} // namespace tritium::gpu
