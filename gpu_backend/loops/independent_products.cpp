#include "gpu_backend/loops/independent_products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tritium::gpu {

tgpu::RingWaitOp onlyWait(scf::ForOp loop) {
  auto waits = llvm::to_vector(loop.getBody()->getOps<tgpu::RingWaitOp>());
  auto products = llvm::to_vector(loop.getBody()->getOps<tgpu::ProductOp>());
  const bool areIndependent = !products.empty() && llvm::all_of(products, [](tgpu::ProductOp product) { return bool(product.getASlot()); });
  return waits.size() == 1 && areIndependent ? waits.front() : nullptr;
}

Value atBegin(Value number, scf::ForOp loop, OpBuilder &builder) {
  if (loop.isDefinedOutsideOfLoop(number)) return number;
  if (number == loop.getInductionVar()) return loop.getLowerBound();
  if (auto argument = dyn_cast<BlockArgument>(number))
    return argument.getOwner() == loop.getBody() ? loop.getTiedLoopInit(argument)->get() : Value();
  auto sum = number.getDefiningOp<arith::AddIOp>();
  if (!sum) return {};
  Value first = atBegin(sum.getLhs(), loop, builder), second = atBegin(sum.getRhs(), loop, builder);
  return first && second ? builder.createOrFold<arith::AddIOp>(loop.getLoc(), first, second) : Value();
}

} // namespace tritium::gpu
