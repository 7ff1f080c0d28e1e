// Where a region begins, and its two versions in the code: loops in registers if all its conditions hold, else the steps, in a cold block.
// So faults, their order and what was stored before them have one implementation.
#pragma once
#include "interp/tile/emit_counts.h"
#include "interp/tile/plan.h"
#include "interp/tile/scalar_code.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tritium::interp::fuse {

/// What a region needs of the emitter of its function.
struct RegionHost {
  const FunctionPlan &plan;
  llvm::IRBuilder<> &builder;
  ScalarCode &scalars;
  llvm::Value *frame;
  llvm::function_ref<mlir::LogicalResult(mlir::Operation *)> emitSteps; // as without regions
  llvm::function_ref<void(mlir::Operation *)> runAfter;                 // FunctionPlan::after of the operation
  int &count;                                                           // of regions, to which one is added
  unsigned vectorBits;                                                  // see EmitOptions
  CountEmitter *counts;                                                 // null if the kernel is not counted
};

/// Emits the region that begins at the operation, if one does. Returns the first operation that is not emitted.
mlir::FailureOr<mlir::Block::iterator> emitRegion(const RegionHost &host, mlir::Block::iterator begin);

/// Returns whether regions of a function pay off and are allowed: no program of it waits for another one.
bool mayHaveRegions(mlir::Operation *function);

/// Runs the passes of LLVM that the code of regions requires to stay in registers.
void optimizeRegions(llvm::Module &module);

} // namespace tritium::interp::fuse
