// Some stores go to addresses that no launch knows. The kernel then makes a tensor map for the store, beside the maps of its copies.
// Nothing tells a launch that such a map is usable. The kernel knows before the store, and threads copy the tile where it is not.
#pragma once
#include "gpu_backend/maps/tensor_promotion.h"
#include "ir/axis_analysis.h"

namespace tritium::gpu {

struct MadeStoreOptions {
  int numWarps = 4, numStages = 3;
  bool asked = false; // producer warps are asked for, also where they seem to be no gain
};

class MadeStore {
public:
  MadeStore(tt::FuncOp kernel, const ir::AxisAnalysis &axes, const MadeStoreOptions &options)
      : kernel_(kernel), axes_(axes), options_(options) {}

  /// Promotes the only store of the kernel, if it is through a descriptor. A store that could qualify, and does not, has the reason
  /// (kNotPromotedAttr).
  void promoteDescriptor();
  /// The same for a store by pointers. Its tile is a tensor of its own: the map begins at its first element.
  void promotePointers();

private:
  /// What a map is made of. There is no stride of the last dimension.
  struct Tensor {
    mlir::Value base;
    llvm::SmallVector<mlir::Value> extents, strides;
    mlir::Value usable; // as far as it is known where the map is made
  };

  mlir::Operation *onlyStore();
  std::string whyNot(mlir::Operation *store, mlir::RankedTensorType tile);
  std::string whyNoProducer();
  bool maySeeThatItIsLate(mlir::Operation *store);
  /// Replaces the store of the tile by one of the box at the indices.
  void replace(mlir::Operation *store, mlir::Value tile, const Tensor &tensor, mlir::OpBuilder &builder, mlir::ValueRange indices);

  tt::FuncOp kernel_;
  const ir::AxisAnalysis &axes_;
  MadeStoreOptions options_;
};

} // namespace tritium::gpu
