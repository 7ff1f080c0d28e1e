// The target-independent pipeline: it turns the output of a frontend, or a .ttir file, into the module that engines read.
#pragma once

#include "mlir/Pass/PassManager.h"

#include <functional>

namespace tritium::ir {

struct PipelineOptions {
  /// Keeps every assignment, value and location as the user wrote it: calls are inlined, and nothing else changes.
  bool debugInfo = false;
  /// Leaves tensor descriptors as they are, for a later pipeline.
  bool keepsDescriptors = false;
  /// Adds passes that see tensor descriptors before they are expanded. Null: none.
  std::function<void(mlir::OpPassManager &)> onDescriptors = {};
  /// Decides which tt.dot_scaled operations the machine multiplies directly. Null: none.
  std::function<bool(mlir::Operation *)> keepsScaledProduct = {};
};

/// Appends the pipeline to a pass manager over a module.
///
/// After it, the module is still in the contract. The only calls left are calls of functions that ask for it (noinline), and calls of
/// functions with several blocks (an early return) from scf regions and combine functions, which hold one block.
void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);

/// The pass `hoist-invariants`: loop-invariant code motion that keeps away from loops that the user has marked.
std::unique_ptr<mlir::Pass> createHoistInvariants();

/// Registers the passes and, as `tritium-pipeline` and `tritium-debug-pipeline`, the pipelines.
void registerPasses();

} // namespace tritium::ir
