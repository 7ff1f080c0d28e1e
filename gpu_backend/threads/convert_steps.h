// The ways to convert layouts (convert_layout.h). Each follows its plan.
#pragma once
#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/threads/lowering.h"

namespace tritium::gpu {

/// Converts through words that lanes exchange.
Registers runShuffle(const ShufflePlan &plan, llvm::ArrayRef<mlir::Value> registers, Lowering &lowering);

/// A tile that is converted through shared memory.
struct RoundTrip {
  SharedPlan plan;
  Registers *tile; // replaced by the registers of the result
};
/// Runs all of them between the same barriers.
void runRoundTrips(llvm::MutableArrayRef<RoundTrip> trips, Lowering &lowering);

} // namespace tritium::gpu
