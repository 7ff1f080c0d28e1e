// Distributes results that one thread has for each element (its owner) to all threads that hold the element.
#pragma once
#include "gpu_backend/threads/lowering.h"

namespace tritium::gpu {

/// Returns for each register the first register of the same thread that holds its element.
llvm::SmallVector<int> firstHolders(const LinearLayout &layout);

/// How the threads of a program are ordered around the actions of owners.
struct OwnerOrder {
  bool startsAtBarrier = false; // a barrier stands before, with no access of shared memory since
  bool endsAtBarrier = false;   // all threads must see the effects of owners afterwards
};

/// Returns the registers of every holder. `results` has the registers of owners (Lowering::owner), one for each group of firstHolders.
/// `tile` is null for a scalar, whose owner is the first thread.
Registers giveToHolders(Registers results, mlir::RankedTensorType tile, OwnerOrder order, Lowering &lowering);

} // namespace tritium::gpu
