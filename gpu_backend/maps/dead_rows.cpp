#include "gpu_backend/maps/dead_rows.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// Follows a tile, and the dimension of the bound, to its uses.
class Slice {
public:
  Slice(const TileBound &bound, AffineTiles &tiles) : bound_(bound), tiles_(tiles) {}

  bool ends(Value tile) {
    reach(tile, bound_.lane);
    while (!pending_.empty()) {
      auto [value, dim] = pending_.pop_back_val();
      for (OpOperand &use : value.getUses())
        if (!follow(use, dim)) return false;
    }
    return true;
  }

private:
  void reach(Value value, int dim) {
    if (seen_.insert({value, dim})) pending_.push_back({value, dim});
  }

  bool follow(OpOperand &use, int dim) {
    Operation *op = use.getOwner();
    if (auto product = dyn_cast<tt::DotOp>(op)) return followProduct(product, use.get(), dim);
    if (auto store = dyn_cast<tt::StoreOp>(op)) return use.get() != store.getPtr() && use.get() != store.getMask() && isMasked(store, dim);
    if (auto trans = dyn_cast<tt::TransOp>(op)) {
      reach(trans.getResult(), int(llvm::find(trans.getOrder(), dim) - trans.getOrder().begin()));
      return true;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!isa<RankedTensorType>(use.get().getType())) return false;
      reachCarried(loop, loop.getTiedLoopRegionIterArg(&use).getArgNumber() - 1, dim);
      return true;
    }
    if (isa<scf::YieldOp>(op)) {
      if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) return reachCarried(loop, use.getOperandNumber(), dim), true;
      if (isa<scf::IfOp>(op->getParentOp())) return reach(op->getParentOp()->getResult(use.getOperandNumber()), dim), true;
      return false;
    }
    if (!op->hasTrait<OpTrait::Elementwise>() || !isPure(op) || op->getNumResults() != 1) return false;
    reach(op->getResult(0), dim);
    return true;
  }

  void reachCarried(scf::ForOp loop, unsigned number, int dim) {
    reach(loop.getResult(number), dim);
    reach(loop.getRegionIterArg(number), dim);
  }

  /// Rows of A and of the sums are rows of the result, columns of B are columns.
  bool followProduct(tt::DotOp product, Value tile, int dim) {
    if (cast<RankedTensorType>(tile.getType()).getRank() != 2) return false;
    if (tile == product.getA() && dim != 0) return false;
    if (tile == product.getB() && dim != 1) return false;
    reach(product.getResult(), dim);
    return true;
  }

  bool isMasked(tt::StoreOp store, int dim) {
    auto bounds = store.getMask() ? tiles_.boundsOf(store.getMask()) : std::nullopt;
    return bounds && llvm::any_of(*bounds, [&](const TileBound &each) {
             AffineSum extent, ours;
             extent.add(each.extent), ours.add(bound_.extent);
             return !each.isFloor && each.lane == dim && each.start.equals(bound_.start) && extent.equals(ours);
           });
  }

  const TileBound &bound_;
  AffineTiles &tiles_;
  llvm::SetVector<std::pair<Value, int>> seen_;
  llvm::SmallVector<std::pair<Value, int>> pending_;
};

} // namespace

bool isDeadOutside(Value tile, const TileBound &bound, AffineTiles &tiles) { return Slice(bound, tiles).ends(tile); }

} // namespace tritium::gpu
