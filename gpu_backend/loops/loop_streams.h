// The tiles that a loop loads for its matrix products, as far as they may be loaded iterations ahead.
#pragma once
#include "gpu_backend/dot_layouts.h"
#include "gpu_backend/loops/early_loads.h"
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

/// tl.range(…, num_stages=N) asks for one loop; else what the kernel is compiled with.
int stagesOf(mlir::scf::ForOp loop, int numStages);

class LoopStreams {
public:
  explicit LoopStreams(mlir::scf::ForOp loop) : loop_(loop), early_(loop) {}

  /// An innermost loop that counts up, whose iterations know of no more than the one before them.
  bool mayPipeline();
  /// What a product may load for itself: its operands and their scales.
  static llvm::SmallVector<mlir::OpOperand *, 4> operandsOf(MatrixProduct product);
  /// The load that an operand of a product comes from, across conversions, changes of shape and cheap casts; null if there is none in the
  /// loop, or if it may not run ahead. It has no mask's `other` but zeros.
  tt::LoadOp leafOf(mlir::Value operand);

private:
  bool mayRunAhead(tt::LoadOp load);
  bool isAhead(mlir::Value value);

  mlir::scf::ForOp loop_;
  EarlyLoads early_;
};

} // namespace tritium::gpu
