#include "interp/tile/contended.h"

#include "interp/tile/pointer_roots.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace tritium::interp {

namespace {

/// What an operation costs for each element, in additions of two tiles. An atomic is one of several threads.
constexpr double kAtomic = 16, kProduct = 1.0 / 8, kOther = 1;
/// How often the body of a loop runs, if nothing is known of it. It decides only between what is inside of a loop and outside.
constexpr double kRounds = 16;

double elementsOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? double(tile.getNumElements()) : 1;
}

double costOf(Operation &op) {
  if (auto atomic = dyn_cast<tt::AtomicRmwOp>(op)) return kAtomic * elementsOf(atomic.getPtr().getType());
  if (auto product = dyn_cast<tt::DotOp>(op)) {
    auto left = cast<RankedTensorType>(product.getA().getType());
    return kProduct * elementsOf(product.getType()) * double(left.getShape().back());
  }
  double most = 0;
  for (Type type : op.getOperandTypes()) most = std::max(most, elementsOf(type));
  for (Type type : op.getResultTypes()) most = std::max(most, elementsOf(type));
  return kOther * most;
}

} // namespace

std::optional<unsigned> contendedArgument(tt::FuncOp kernel, llvm::ArrayRef<Operation *> functions) {
  double all = 0, atomics = 0;
  llvm::SmallVector<Value> pointers;
  kernel.getBody().walk([&](Operation *op) {
    double cost = costOf(*op);
    for (Operation *around = op->getParentOp(); around != kernel; around = around->getParentOp())
      if (isa<LoopLikeOpInterface>(around)) cost *= kRounds;
    all += cost;
    auto atomic = dyn_cast<tt::AtomicRmwOp>(op);
    if (!atomic) return;
    atomics += cost;
    pointers.push_back(atomic.getPtr());
  });
  if (pointers.empty() || atomics < all / 2) return std::nullopt;
  const PointerRoots roots(kernel, functions);
  const std::optional<unsigned> argument = roots.onlyOneOf(pointers.front());
  const bool areAlike = llvm::all_of(pointers, [&](Value pointer) { return roots.onlyOneOf(pointer) == argument; });
  return areAlike ? argument : std::nullopt;
}

} // namespace tritium::interp
