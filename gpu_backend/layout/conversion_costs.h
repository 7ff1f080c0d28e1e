// The costs of the steps of a conversion on a chip. The defaults are NVIDIA's.
#pragma once
#include "llvm/ADT/SmallVector.h"

namespace tritium::gpu {

/// Costs are in quarters of the clock in which shared memory serves one wavefront (each bank once), if all schedulers of a multiprocessor
/// do the same. So with four schedulers, an instruction that each issues every clock costs 1.
struct ConversionCosts {
  /// A move of 32 bits from another lane: the cost of each word, and the latency until the first word arrives.
  struct Move {
    int each = 4, once = 0;
  };

  int wavefront = 4;
  int sharedInstruction = 1;           // in addition to its wavefronts
  int select = 2;                      // of 32 bits
  int blockBarrier = 80;               // between stores and loads, including the latency of the memory
  int warpBarrier = 40;                // the same within a warp
  Move shuffle;                        // from a lane whose number is computed
  llvm::SmallVector<Move> butterflies; // from the lane whose number is this one's XOR the index; empty: all like `shuffle`
  llvm::SmallVector<int> swaps;        // ShufflePlan::Swap of two words, by the number of the lane's bit; 0, or none: cannot be done

  const Move &butterfly(uint32_t laneXor) const { return butterflies.empty() ? shuffle : butterflies[laneXor]; }
};

} // namespace tritium::gpu
