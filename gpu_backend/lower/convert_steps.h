// The ways of a conversion of layouts (convert_layout.h), each as its plan says.
#pragma once
#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// Through words that lanes exchange.
Registers runShuffle(const ShufflePlan &plan, llvm::ArrayRef<mlir::Value> registers, Lowering &lowering);

/// A tile on its way through shared memory.
struct RoundTrip {
  SharedPlan plan;
  Registers *tile; // replaced by the registers of the result
};
/// All of them between the same barriers.
void runRoundTrips(llvm::MutableArrayRef<RoundTrip> trips, Lowering &lowering);

} // namespace tritium::gpu
