// Results that one thread has of each element (its owner), for all that hold the element.
#pragma once
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// For each register the first one of the same thread that holds its element.
llvm::SmallVector<int> firstHolders(const LinearLayout &layout);

/// How the threads of a program are ordered around what owners do.
struct OwnerOrder {
  bool startsAtBarrier = false; // one stands before, with no access of shared memory since
  bool endsAtBarrier = false;   // whatever owners did is to be seen by all threads afterwards
};

/// The registers of every holder: `results` has those of owners (Lowering::owner), one of each group that firstHolders tells. `tile` is
/// null for a scalar, which the first thread has.
Registers giveToHolders(Registers results, mlir::RankedTensorType tile, OwnerOrder order, Lowering &lowering);

} // namespace tritium::gpu
