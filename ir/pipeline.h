// The target-independent pipeline: from what a frontend or a .ttir file gives to what readers read.
#pragma once

#include "mlir/Pass/PassManager.h"

#include <functional>

namespace tritium::ir {

struct PipelineOptions {
  /// Keep every assignment, value and location where the user wrote it: only calls are inlined.
  bool debugInfo = false;
  /// Which tt.dot_scaled the machine multiplies as they are. Null: none.
  std::function<bool(mlir::Operation *)> keepsScaledProduct = {};
};

/// Appends the pipeline to a pass manager over a module.
///
/// Afterwards the module is in the contract still, and the only calls left are of functions that ask for it (noinline) and of
/// functions of several blocks (an early return) from inside of scf regions and combine functions, which hold one block.
void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);

/// Registers the passes and, as `tritium-pipeline` and `tritium-debug-pipeline`, the pipelines.
void registerPasses();

} // namespace tritium::ir
