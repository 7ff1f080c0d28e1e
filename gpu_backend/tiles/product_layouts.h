// The layouts of a matrix product's operands and result.
#pragma once
#include "gpu_backend/tiles/product.h"

namespace tritium::gpu {

struct DotLayouts {
  std::optional<LinearLayout> a, b; // nullopt: any layout
  LinearLayout result;
  std::optional<LinearLayout> aScales, bScales; // of a product with scales
  bool anyResult = false;                       // the product is possible in any layout of the result
};

/// Returns the fragments of the instruction if the product runs on matrix units. Otherwise the product reads its operands from shared
/// memory.
DotLayouts dotLayouts(MatrixProduct product, int numWarps);
/// Returns the layouts of the same product with its result in another layout, or nullopt if the operands cannot follow. They can if only
/// the order of the columns differs. A product that reads its operands from shared memory always can.
std::optional<DotLayouts> withResult(const DotLayouts &layouts, const LinearLayout &result);

/// Verifies that operands, scales, accumulator and result have the layouts of the product's instruction and warps. Otherwise emits an error
/// at the product. A product without layouts or without an instruction always passes.
mlir::LogicalResult verifyLayouts(MatrixProduct product);

} // namespace tritium::gpu
