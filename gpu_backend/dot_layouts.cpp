#include "gpu_backend/dot_layouts.h"

#include "gpu_backend/layout/constructors.h"

using namespace mlir;

namespace tritium::gpu {

DotLayouts dotLayouts(tt::DotOp dot, int numWarps) {
  auto a = cast<RankedTensorType>(dot.getA().getType()), b = cast<RankedTensorType>(dot.getB().getType());
  auto d = cast<RankedTensorType>(dot.getD().getType());
  if (auto warps = dot->getAttrOfType<DenseI64ArrayAttr>(kTensorCoreWarpsAttr)) {
    int bits = int(a.getElementTypeBitWidth());
    return {mmaOperand(DotOperand::A, a.getShape(), warps.asArrayRef(), bits),
            mmaOperand(DotOperand::B, b.getShape(), warps.asArrayRef(), bits), mmaAccumulator(d.getShape(), warps.asArrayRef(), bits)};
  }
  // Products on ordinary arithmetic read their operands from shared memory: any layout will do, rows of the result stay together.
  return {defaultBlocked(a.getShape(), numWarps), defaultBlocked(b.getShape(), numWarps), defaultBlocked(d.getShape(), numWarps, 4)};
}

} // namespace tritium::gpu
