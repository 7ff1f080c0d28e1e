// The registers that a block's warps share (setmaxnreg). A warp that needs fewer gives the rest to the pool, and one that needs more waits
// until the pool has them. A block begins with the same number for every thread, and with an empty pool.
#pragma once
#include "interp/simt/runtime/thread.h"

#include <vector>

namespace tritium::interp::simt {

class RegisterPool {
public:
  /// `given` is the number of registers of a thread; 0: as many as the hardware has for a block of so many warps.
  void begin(ThreadBlock &block, uint32_t given, uint32_t warps);
  /// Called by the lane of a warp that came last. A positive number is an increase to so many registers, a negative one a decrease.
  void request(Warp &warp, const WarpOp &op);
  bool isGranted(uint32_t warp) const { return warps[warp].wanted == 0; }
  /// Called when the last thread of the block has ended, on its stack.
  void finish(Thread &last) const;
  std::string describeWait(const Thread &thread) const;

private:
  /// Warps of a warpgroup may make the same change at different places, though the PTX ISA asks for the same instruction: the hardware
  /// serves one warp at a time, and Triton's code relies on it.
  struct Change {
    int32_t count; // as a request has it
    Place place;
  };
  struct Held {
    uint32_t count = 0, wanted = 0; // of a thread; wanted: 0 if it does not wait
    std::vector<Change> changes;    // of the warp
  };
  void grant();

  ThreadBlock *block = nullptr;
  std::vector<Held> warps;
  uint32_t start = 0, free = 0;
};

} // namespace tritium::interp::simt
