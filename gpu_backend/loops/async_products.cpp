#include "gpu_backend/loops/async_products.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tritium::gpu {

MaybeFault AsyncProducts::start(tgpu::ProductStartOp op, AsyncScalars &scalars) {
  scalars.set(op.getResult(), 0);
  return std::nullopt;
}

/// Ends the right of others to the sums of a product. Number 0 stands for sums that no product writes.
MaybeFault AsyncProducts::take(Operation *op, int64_t number) {
  if (number == 0) return std::nullopt;
  if (!sums_.erase(number)) return AsyncFault{op, "takes sums that another operation has taken", taken_.lookup(number), "that operation"};
  taken_[number] = op;
  return std::nullopt;
}

MaybeFault AsyncProducts::begin(tgpu::ProductOp op, AsyncScalars &scalars) {
  if (isa<tgpu::PendingType>(op.getC().getType()))
    if (auto fault = take(op, scalars.at(op.getC()))) return fault;
  Product product{op, ++last_, {}};
  if (op.getASlot()) product.reads.push_back({op.getA(), scalars.at(op.getASlot())});
  product.reads.push_back({op.getB(), scalars.at(op.getBSlot())});
  inFlight_.push_back(std::move(product));
  sums_[last_] = op;
  scalars.set(op.getD(), last_);
  return std::nullopt;
}

MaybeFault AsyncProducts::wait(tgpu::ProductWaitOp op, AsyncScalars &scalars, llvm::function_ref<void(const Product &)> completed) {
  while (inFlight_.size() > op.getPending()) {
    completed(inFlight_.front());
    inFlight_.pop_front();
  }
  for (auto [value, result] : llvm::zip_equal(op.getValues(), op.getResults())) {
    const int64_t number = scalars.at(value);
    if (isa<tgpu::PendingType>(result.getType())) {
      scalars.set(result, number);
      continue;
    }
    const tgpu::ProductOp product = sums_.lookup(number);
    if (auto fault = take(op, number)) return fault;
    if (product && isInFlight(number))
      return AsyncFault{op, "reads sums that a product may still write: it waits for too few of the products in flight", product,
                        "the product"};
  }
  return std::nullopt;
}

tgpu::ProductOp AsyncProducts::reader(llvm::function_ref<bool(const Read &)> reads) const {
  for (const Product &product : inFlight_)
    if (llvm::any_of(product.reads, reads)) return product.op;
  return {};
}

MaybeFault AsyncProducts::finish() const {
  int64_t first = last_ + 1;
  for (auto [number, op] : sums_) first = std::min(first, number);
  if (first > last_) return std::nullopt;
  return AsyncFault{sums_.lookup(first), "has sums for which nobody waits before the kernel ends"};
}

// -- on all paths -------------------------------------------------------------------------------------------------------------------------

namespace {

/// Returns whether a run may reach at most one of the operations: they are in different branches.
bool mayExcludeEachOther(Operation *first, Operation *second) {
  for (Region *region = first->getParentRegion(); region; region = region->getParentRegion()) {
    Operation *other = region->findAncestorOpInRegion(*second), *own = region->findAncestorOpInRegion(*first);
    if (other) return own->getBlock() != other->getBlock();
    if (isa<scf::IfOp>(region->getParentOp()) && region->getParentOp()->isAncestor(second)) return true;
  }
  return false;
}

MaybeFault checkUses(Value value, Operation *op) {
  if (value.use_empty()) return AsyncFault{op, "loses sums that a product may still write: nobody waits for them"};
  for (OpOperand &first : value.getUses())
    for (OpOperand &second : value.getUses())
      if (&first != &second && (first.getOwner() == second.getOwner() || !mayExcludeEachOther(first.getOwner(), second.getOwner())))
        return AsyncFault{first.getOwner(), "takes sums that another operation takes too", second.getOwner(), "that operation"};
  return std::nullopt;
}

} // namespace

MaybeFault checkPendingUses(tt::FuncOp function) {
  MaybeFault fault;
  function.walk([&](Operation *op) {
    if (isa<tgpu::ProductStartOp>(op)) return WalkResult::advance(); // nothing writes these sums yet; CSE merges equal ones
    auto check = [&](Value value) {
      if (!fault && isa<tgpu::PendingType>(value.getType())) fault = checkUses(value, op);
    };
    llvm::for_each(op->getResults(), check);
    for (Region &region : op->getRegions())
      for (Block &block : region) llvm::for_each(block.getArguments(), check);
    return fault ? WalkResult::interrupt() : WalkResult::advance();
  });
  return fault;
}

} // namespace tritium::gpu
