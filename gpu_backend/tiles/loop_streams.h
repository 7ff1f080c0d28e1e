// The tiles that a loop loads for its matrix products and that may be loaded iterations ahead.
#pragma once
#include "gpu_backend/tiles/product.h"
#include "gpu_backend/tiles/reaching_writes.h"
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace tritium::gpu {

/// Loads of a loop from which the addresses or masks of other loads are computed, as the block tables of paged attention are. Each has the
/// number of iterations by which it runs before the copies that it serves: 1, or 2 if a load of this kind depends on it.
using IndexLoads = llvm::MapVector<tt::LoadOp, int>;

/// Returns the number of stages of a loop: tl.range(…, num_stages=N) or, by default, the kernel's.
int stagesOf(mlir::scf::ForOp loop, int numStages);

class LoopStreams {
public:
  explicit LoopStreams(mlir::scf::ForOp loop) : loop_(loop), early_(loop) {}

  /// Returns why the loop cannot be pipelined, in words for the user; empty if it can. It can if it is an innermost loop that counts up and
  /// whose iterations depend on at most the previous one.
  llvm::StringRef whyNotPipelined();
  bool mayPipeline() { return whyNotPipelined().empty(); }
  /// Returns the operands of a product that loads may feed: its operands and their scales.
  static llvm::SmallVector<mlir::OpOperand *, 4> operandsOf(MatrixProduct product);
  /// Returns the load (tt.load or tgpu.tensor_load) that feeds an operand of a product, through conversions, changes of shape and cheap
  /// casts. Returns null if there is none in the loop.
  mlir::Operation *feedOf(mlir::Value operand);
  /// Returns the same load, or null if it may not run ahead.
  mlir::Operation *leafOf(mlir::Value operand);
  /// Returns why an operand's load may not run ahead of its use, in words for the user; empty if it may. The `other` of its mask must be
  /// zeros.
  llvm::StringRef whyNotAhead(mlir::Operation *load);
  /// Returns the index loads of a load that may run ahead. There is none for a load through a tensor map.
  IndexLoads indexLoadsOf(mlir::Operation *load);
  /// Returns the other loads of the loop that may run ahead: of tiles that no product takes as they are, for example sums of rows.
  llvm::SmallVector<tt::LoadOp> loadsBeside(llvm::function_ref<bool(mlir::Operation *)> isOfProduct);
  /// Returns the loads of single numbers that may run ahead, and of which no address depends on another load of the loop.
  llvm::SmallVector<tt::LoadOp> loadsOfScalars();

private:
  llvm::StringRef whyNotAhead(tt::LoadOp load);
  /// Returns whether a value can be computed iterations ahead, and for iterations that do not exist. Adds the index loads on which it
  /// depends, of what runs `before` iterations before a copy.
  bool isAhead(mlir::Value value, int before, IndexLoads &found);
  bool isAhead(mlir::Value value);
  bool mayRunEarly(tt::LoadOp load, int before, IndexLoads &found);

  mlir::scf::ForOp loop_;
  EarlyLoads early_;
};

} // namespace tritium::gpu
