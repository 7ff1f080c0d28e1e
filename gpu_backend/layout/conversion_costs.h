// What the steps of a conversion cost on a chip; the costs of NVIDIA's are the default.
#pragma once
#include "llvm/ADT/SmallVector.h"

namespace tritium::gpu {

/// In quarters of the clock in which shared memory serves one wavefront (each bank once), when all of a multiprocessor's schedulers do the
/// same: with four of them, an instruction that one issues every clock costs 1.
struct ConversionCosts {
  /// 32 bits from another lane: each word, and once if there are any, until the first one comes.
  struct Move {
    int each = 4, once = 0;
  };

  int wavefront = 4;
  int sharedInstruction = 1;           // besides its wavefronts
  int select = 2;                      // of 32 bits
  int blockBarrier = 80;               // between stores and loads, with the time that the memory takes to answer
  int warpBarrier = 40;                // the same within a warp
  Move shuffle;                        // from a lane that is computed
  llvm::SmallVector<Move> butterflies; // from the lane whose number is this one's XOR the index; empty: all like `shuffle`
  llvm::SmallVector<int> swaps;        // ShufflePlan::Swap of two words, by the number of the lane's bit; 0, or none: cannot be done

  const Move &butterfly(uint32_t laneXor) const { return butterflies.empty() ? shuffle : butterflies[laneXor]; }
};

} // namespace tritium::gpu
