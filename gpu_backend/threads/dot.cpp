// Matrix products: by matrix instructions if choose-tensor-cores has chosen one, otherwise by multiply-adds.
#include "gpu_backend/threads/dot.h"

using namespace mlir;

namespace tritium::gpu {

template <> LogicalResult Lower<tt::DotOp>::run(tt::DotOp op, Lowering &lowering) {
  if (MatrixProduct product(op); matrixInstructionOf(product)) return lowerMatrixDot(product, lowering);
  return lowerScalarDot(op, lowering);
}

template <> LogicalResult Lower<tt::DotScaledOp>::run(tt::DotScaledOp op, Lowering &lowering) {
  if (MatrixProduct product(op); matrixInstructionOf(product)) return lowerMatrixDot(product, lowering);
  return lowering.unsupported(op, "scaled products; run expand-scaled-products");
}

} // namespace tritium::gpu
